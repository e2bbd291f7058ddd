import { block, bool, list, named, text, type Static } from '../field.ts';
import { AUTH_METHODS, AUTH_METHOD_NAMES } from '../auth/auth-methods.ts';

const step = block(
  {
    name: text('Name in `booleanExpr`, logs and metadata. Default: `config_<index>`.'),
    ...AUTH_METHODS,
  },
  {
    oneOf: [{ members: AUTH_METHOD_NAMES, required: true, message: 'an auth step must set exactly one method' }],
  },
);
/** One step of an auth config. */
export interface AuthStep extends Static<typeof step> {}
export const AuthStep = named<AuthStep>('AuthStep', step);

const fields = block(
  {
    configs: list(AuthStep, 'The steps, in order; at least one.'),
    booleanExpr: text('Step names combined with `&&`, `||`, `!` and parentheses. Default: all steps, in order.'),
    failOnRedirect: bool('Returns 401 instead of redirecting to a login.', { default: false }),
  },
  { required: ['configs'] },
);
/** `spec` of an AuthConfig. */
export interface AuthConfigSpec extends Static<typeof fields> {}
export const AuthConfigSpec = named<AuthConfigSpec>('AuthConfigSpec', fields);
