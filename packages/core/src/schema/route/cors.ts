import { block, bool, list, named, regex, text, type Static } from '../field.ts';

const fields = block({
  allowOrigin: list(
    text(),
    'Allowed origins, e.g. `https://example.com`. Either this or `allowOriginRegex` is required.',
  ),
  allowOriginRegex: list(regex(), 'RE2 expressions that match whole origins.'),
  allowMethods: list(text(), 'Allowed methods.'),
  allowHeaders: list(text(), 'Allowed request headers.'),
  exposeHeaders: list(text(), 'Response headers that scripts may read.'),
  maxAge: text('How long browsers may cache a preflight response, in seconds.'),
  allowCredentials: bool('Allows cookies and credentials.', { default: false }),
  disableForRoute: bool('Switches CORS off on this route; only at route level.', { default: false }),
});
/** Which other origins may call. */
export interface Cors extends Static<typeof fields> {}
export const Cors = named<Cors>('Cors', fields);
