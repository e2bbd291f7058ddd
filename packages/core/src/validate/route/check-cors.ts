import type { Cors } from '../../schema/route/cors.ts';
import { each, fields, reporterOf, type Check } from '../check.ts';

/** Scheme, host and optional port, as browsers send them; `null` is an opaque origin. */
const ORIGIN = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#\s@]+|\*|null)$/;
// eslint-disable-next-line no-control-regex -- matches control characters on purpose
const UNSAFE = /[\u0000-\u001f\u007f]/;
const invalid = reporterOf('INVALID_CORS');

/** Returns problems of `cors`. A block must allow some origin, unless it only disables CORS. */
export const checkCors: Check<Cors> = (cors, at) => {
  const { allowOrigin, allowOriginRegex, allowCredentials, disableForRoute } = cors;
  const isUseful = allowOrigin?.length || allowOriginRegex?.length || disableForRoute;
  const isOpen = allowCredentials && allowOrigin?.includes('*');
  return [
    ...invalid(!isUseful && 'cors must allow at least one origin', at, { hint: 'allowOrigin, allowOriginRegex' }),
    ...invalid(isOpen && OPEN, [...at, 'allowCredentials'], { severity: 'warning' }),
    ...fields(cors, at, {
      allowOrigin: (origins, path) => each(origins, path, checkOrigin),
      allowMethods: checkTexts,
      allowHeaders: checkTexts,
      exposeHeaders: checkTexts,
      maxAge: checkText,
    }),
  ];
};

const OPEN = "allowCredentials has no effect for origins that only '*' allows: every site could act as the user";

const checkOrigin: Check<string> = (origin, at) =>
  invalid(
    !ORIGIN.test(origin) && `the origin '${origin}' matches no request: use scheme, host and port, in lower case`,
    at,
    { severity: 'warning' },
  );

const checkText: Check<string> = (text, at) => {
  const field = at.findLast((step) => typeof step === 'string');
  return invalid(UNSAFE.test(text) && `control characters are not allowed in ${field} of cors`, at);
};

const checkTexts: Check<readonly string[]> = (texts, at) => each(texts, at, checkText);
