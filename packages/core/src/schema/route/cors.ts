import * as f from '../field.ts';

const fields = f.block({
  allowOrigin: f.texts(
    'Allowed origins, e.g. `https://example.com`; `*` allows every origin. Either this or `allowOriginRegex` is required.',
  ),
  allowOriginRegex: f.list(f.regex(), 'RE2 expressions that match whole origins.'),
  allowMethods: f.texts('Allowed methods; `*` alone allows the requested one.'),
  allowHeaders: f.texts('Allowed request headers; `*` alone allows the requested ones.'),
  exposeHeaders: f.texts('Response headers that scripts may read.'),
  maxAge: f.text('How long browsers may cache a preflight response, in seconds; sent unchanged.'),
  allowCredentials: f.flag(
    'Allows cookies and credentials for origins that are named or match an expression, not for those that only `*` allows.',
  ),
  disableForRoute: f.flag('Disables CORS on this route; only at route level.'),
});
/** Which other origins may call. */
export interface Cors extends f.Static<typeof fields> {}
export const Cors = f.named<Cors>('Cors', fields);
