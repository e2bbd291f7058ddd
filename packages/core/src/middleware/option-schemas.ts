import '../node-version/supported.ts';

/** Schemas for the options of middlewares, and the check of options. */
export { checkOptions, type OptionRules } from './check-options.ts';
export {
  block,
  bool,
  count,
  duration,
  either,
  enumeration,
  extended,
  fieldOf,
  float,
  list,
  map,
  required,
  text,
  texts,
  value,
  type Schema,
  type Static,
} from '../schema/field.ts';
export { AccessTokenValidation, OidcAuthorizationCode } from '../schema/auth/oauth2.ts';
export { UserSession } from '../schema/auth/session.ts';
export { ExtAuthServer } from '../schema/auth/extauth.ts';
export { AuthConfigSpec } from '../schema/kind/auth-config.ts';
export { GraphQLApiSpec } from '../schema/kind/graphql-api.ts';
export { SettingsSpec } from '../schema/kind/settings.ts';
export {
  RateLimit,
  RateLimitActions,
  RateLimitBasic,
  RateLimitConcurrency,
  RateLimitRules,
  RateLimitServer,
} from '../schema/route/rate-limit.ts';
