import '@edge-gateway/core/supported-node';
export { ERROR_CODES } from './error-codes.ts';
export { azureGroups } from './groups/azure-groups.ts';
export { oauth2Method, oidcMethod } from './methods.ts';
export { oidc, type LoginSession, type OidcOptions } from './middleware.ts';
