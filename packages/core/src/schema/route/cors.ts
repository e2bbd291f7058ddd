import * as f from '../field.ts';

const fields = f.block({
  allowOrigin: f.texts('Allowed origins, e.g. `https://example.com`. Either this or `allowOriginRegex` is required.'),
  allowOriginRegex: f.list(f.regex(), 'RE2 expressions that match whole origins.'),
  allowMethods: f.texts('Allowed methods.'),
  allowHeaders: f.texts('Allowed request headers.'),
  exposeHeaders: f.texts('Response headers that scripts may read.'),
  maxAge: f.text('How long browsers may cache a preflight response, in seconds.'),
  allowCredentials: f.flag('Allows cookies and credentials.'),
  disableForRoute: f.flag('Switches CORS off on this route; only at route level.'),
});
/** Which other origins may call. */
export interface Cors extends f.Static<typeof fields> {}
export const Cors = f.named<Cors>('Cors', fields);
