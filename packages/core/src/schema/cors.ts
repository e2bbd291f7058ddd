import { block, bool, list, named, regex, text, type Static } from './field.ts';

const fields = block({
  allowOrigin: list(text(), 'Origins that may call, e.g. `https://example.com`. This or `allowOriginRegex` is needed.'),
  allowOriginRegex: list(regex(), 'RE2 expressions for whole origins.'),
  allowMethods: list(text(), 'Methods that a preflight allows.'),
  allowHeaders: list(text(), 'Request headers that a preflight allows.'),
  exposeHeaders: list(text(), 'Response headers that scripts may read.'),
  maxAge: text('Seconds that a browser may keep a preflight answer.'),
  allowCredentials: bool('Whether cookies and credentials may be sent.', { default: false }),
  disableForRoute: bool('Switches CORS off on this route; only at route level.', { default: false }),
});
/** Which other origins may call. */
export interface Cors extends Static<typeof fields> {}
export const Cors = named<Cors>('Cors', fields);
