import '@edge-gateway/core/supported-node';
export { accessChecks } from './check.ts';
export { compilePolicies, type AccessRequest, type Decision } from './policy/decide.ts';
export { ERROR_CODES } from './error-codes.ts';
export {
  explainAccess,
  type AccessLevels,
  type AccessRefusal,
  type AccessRules,
  type AccessToExplain,
  type ExplainedAccess,
  type ExplainedJwt,
  type ExplainedProvider,
} from './explain.ts';
export { JWT_METADATA, jwtBeforeExtAuthConcern, jwtConcern } from './jwt/jwt.ts';
export { jwt, type JwtOptions, type JwtProviderOptions } from './jwt/middleware.ts';
export { JWT_STATUS, type JwtFailure } from '@edge-gateway/core/jwt';
export { rbac, rbacConcern } from './policy/rbac.ts';
