export { accessChecks } from './check.ts';
export { compilePolicies, type AccessRequest, type Decision } from './decide.ts';
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
export { JWT_METADATA, jwtBeforeExtAuthConcern, jwtConcern } from './jwt.ts';
export { jwt, type JwtOptions, type JwtProviderOptions } from './middleware.ts';
export { JWT_STATUS, type JwtFailure } from './jwt-status.ts';
export { rbac, rbacConcern } from './rbac.ts';
