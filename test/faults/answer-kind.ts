import { NO_RESPONSE, type Answered } from './person.ts';

/** What an answer means. Whatever is not exactly one of these is told in words, and so is never expected. */
export type Kind =
  | 'served'
  | 'store away'
  | 'provider away'
  | 'provider slow'
  | 'bad answer of the provider'
  | 'no page of the provider'
  | 'sent to log in'
  | 'told to log in'
  | 'forbidden'
  | 'clock'
  | 'no keys'
  | 'bad token'
  | 'cut off'
  | 'told to reconnect'
  | (string & {});

/** The bodies of JSON errors and pages carry the code. */
const BY_CODE: Readonly<Record<string, { readonly status: number; readonly kind: Kind }>> = {
  ERR_OIDC_STORE_UNAVAILABLE: { status: 503, kind: 'store away' },
  ERR_OIDC_PROVIDER_UNAVAILABLE: { status: 503, kind: 'provider away' },
  ERR_OIDC_PROVIDER_ANSWER: { status: 502, kind: 'bad answer of the provider' },
  ERR_OIDC_PROVIDER_TIMEOUT: { status: 504, kind: 'provider slow' },
  ERR_OIDC_LOGIN_REQUIRED: { status: 401, kind: 'told to log in' },
};

const BY_TEXT: Readonly<Record<string, { readonly status: number; readonly kind: Kind }>> = {
  'RBAC: access denied': { status: 403, kind: 'forbidden' },
  'Jwks remote fetch is failed': { status: 401, kind: 'no keys' },
  'Jwt verification fails': { status: 401, kind: 'bad token' },
  "Jwks doesn't have key to match kid or alg from Jwt": { status: 401, kind: 'bad token' },
  'Jwt not yet valid': { status: 401, kind: 'clock' },
  'Jwt is expired': { status: 401, kind: 'clock' },
};

/** Judges an answer: `isRight` says whether a 200 is the one that had to come, for the one who asked. */
export function kindOf(answered: Answered, isRight: (text: string) => boolean): Kind {
  const { status, headers, text } = answered;
  if (status === NO_RESPONSE) return 'no page of the provider';
  if (status === 200) return isRight(text) ? 'served' : `another answer: ${text.slice(0, 200)}`;
  if (status === 302 && /^http:\/\/127\.0\.0\.1:\d+\/authorize\?/.test(String(headers.location)))
    return 'sent to log in';
  if (status === 401 && text.includes('(clock)') && isPageWithLink(text)) return 'clock';
  const code = /\b(ERR_OIDC_[A-Z_]+)\b/.exec(text)?.[1] ?? '';
  const known = BY_CODE[code] ?? BY_TEXT[textOf(text)];
  const isWhole = known?.status === status && (status < 500 || headers['retry-after'] === '1');
  const isReadable = code === '' || isJson(text) || isPageWithLink(text);
  return isWhole && isReadable ? known.kind : `odd ${status}: ${text.slice(0, 300)}`;
}

/** What a script would read: on a page for people it ends the first paragraph. */
function textOf(text: string): string {
  const message = /<p>([^<]*)<\/p>/.exec(text)?.[1]?.replaceAll(/&#(\d+);/g, (_all, code) => String.fromCharCode(code));
  return Object.keys(BY_TEXT).find((each) => message?.endsWith(each)) ?? text;
}

function isPageWithLink(text: string): boolean {
  return text.startsWith('<!doctype html>') && /<a href="[^"]*">(?:Try|Start) again<\/a>/.test(text);
}

function isJson(text: string): boolean {
  try {
    return typeof (JSON.parse(text) as { requestId?: unknown }).requestId === 'string';
  } catch {
    return false;
  }
}
