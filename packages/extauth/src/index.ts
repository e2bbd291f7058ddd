import '@edge-gateway/core/supported-node';
export { createChain, type Chain, type ChainParts } from './chain/chain.ts';
export { createExtAuth, type ExtAuthOptions } from './concern.ts';
export { ERROR_CODES } from './error-codes.ts';
export { AUTH_METADATA } from './chain/grants.ts';
export { METHODS } from './methods/all.ts';
export { accessTokenMethod, createAccessTokenMethod, type AccessTokenParts } from './methods/access-token.ts';
export { apiKeyMethod } from './methods/api-key.ts';
export { basicMethod } from './methods/basic.ts';
export { hmacMethod } from './methods/hmac.ts';
export { jwtMethod } from './methods/jwt.ts';
export { ldapMethod } from './methods/ldap.ts';
export { opaServerMethod } from './methods/opa-server.ts';
export { createOpaMethod, opaMethod, type OpaParts } from './methods/opa.ts';
export { passThroughGrpcMethod } from './methods/pass-through-grpc.ts';
export {
  createPassThroughHttpMethod,
  passThroughHttpMethod,
  type PassThroughHttpParts,
} from './methods/pass-through-http.ts';
export { extauth, type ExtAuthMiddlewareOptions } from './middleware.ts';
export { accessTokenAuth, type AccessTokenAuthOptions } from './middleware/access-token-auth.ts';
export { apiKeyAuth, type ApiKeyAuthOptions, type PlainApiKey } from './middleware/api-key-auth.ts';
export { basicAuth, type BasicAuthOptions } from './middleware/basic-auth.ts';
export { hmacAuth, type HmacAuthOptions } from './middleware/hmac-auth.ts';
export { ldapAuth, type LdapAuthOptions } from './middleware/ldap-auth.ts';
export { createAuthService, type AuthService, type AuthServiceOptions } from './service/auth-service.ts';
export { listenGrpc } from './service/grpc-server.ts';
export { listenHttp } from './service/http-server.ts';
export type { ListenOptions } from './service/listen-options.ts';
export type { Grant, Verdict } from './service/verdict.ts';
export { opaAuth, type OpaAuthOptions } from './middleware/opa-auth.ts';
export type { CompiledPolicy, PolicyText } from './opa/compile.ts';
export { createPolicyCompiler, type PolicyCompiler, type PolicyCompilerOptions } from './opa/compiler.ts';
export { createPolicyWatch, type PolicyWatch, type PolicyWatchOptions } from './opa/policy-watch.ts';
