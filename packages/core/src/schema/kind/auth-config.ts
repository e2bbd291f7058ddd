import * as f from '../field.ts';
import { AUTH_METHODS, AUTH_METHOD_NAMES } from '../auth/auth-methods.ts';

const step = f.block(f.exactlyOne('an auth step must set exactly one method', ...AUTH_METHOD_NAMES), {
  name: f.text('Name in `booleanExpr`, logs and metadata. Default: `config_<index>`.'),
  ...AUTH_METHODS,
});
/** One step of an auth config. */
export interface AuthStep extends f.Static<typeof step> {}
export const AuthStep = f.named<AuthStep>('AuthStep', step);

const fields = f.block(f.required('configs'), {
  configs: f.list(AuthStep, 'The steps, in order; at least one.'),
  booleanExpr: f.text('Step names combined with `&&`, `||`, `!` and parentheses. Default: all steps, in order.'),
  failOnRedirect: f.flag('Returns 401 instead of redirecting to a login.'),
});
/** `spec` of an AuthConfig. */
export interface AuthConfigSpec extends f.Static<typeof fields> {}
export const AuthConfigSpec = f.named<AuthConfigSpec>('AuthConfigSpec', fields);
