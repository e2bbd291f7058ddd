const SECRET_PARAMETERS: ReadonlySet<string> = new Set([
  'api_key',
  'api-key',
  'apikey',
  'access_token',
  'assertion',
  'auth_token',
  'client_assertion',
  'client_secret',
  'code',
  'id_token',
  'id_token_hint',
  'key',
  'logout_token',
  'passwd',
  'password',
  'pw',
  'pwd',
  'refresh_token',
  'samlresponse',
  'secret',
  'session_token',
  'sig',
  'signature',
  'token',
  'x-amz-security-token',
  'x-amz-signature',
  'x-goog-signature',
]);
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'api-key',
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
  'x-api-key',
]);
/** A JSON Web Token in any header or parameter: its header begins with `{`. */
const JSON_WEB_TOKEN = /(?<![\w-])(?:ey[AJ]|ew[0ko])[\w-]{5,}\.[\w-]+\.[\w-]+/;
/** Every token in a text, including its signature. */
const TOKENS = /(?<![\w-])(?:ey[AJ]|ew[0ko])[\w-]{5,}\.[\w-]+(?:\.[\w-]*)*/g;
/** Replacement of a secret in log lines and configuration dumps. */
export const REDACTED_IN_LOG = '[redacted]';

/** What a secret is replaced by. */
type Hidden = string | ((value: string) => string);

/**
 * Returns an address or a path that is safe to log: values of query parameters whose name is that of a token, or that
 * look like a token, are replaced by `hidden`, or by what it returns for them. Names are percent-decoded before the comparison, as servers do.
 */
export function redactPath(path: string, hidden: Hidden = REDACTED_IN_LOG): string {
  const query = path.indexOf('?');
  if (query < 0) return path;
  const parts = path.slice(query + 1).split('&');
  return `${path.slice(0, query)}?${parts.map((part) => redactParameter(part, hidden)).join('&')}`;
}

function redactParameter(part: string, hidden: Hidden): string {
  const hide = (value: string): string => (typeof hidden === 'string' ? hidden : hidden(value));
  const cut = part.indexOf('=');
  if (cut < 0) return JSON_WEB_TOKEN.test(part) ? hide(part) : part;
  const name = part.slice(0, cut);
  const value = part.slice(cut + 1);
  return isSecretParameter(unescaped(name)) || isToken(unescaped(value)) ? `${name}=${hide(value)}` : part;
}

/** Returns true for query parameters whose value is never logged. */
export function isSecretParameter(name: string): boolean {
  return SECRET_PARAMETERS.has(name.toLowerCase());
}

function unescaped(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns a text with every JSON Web Token replaced by `hidden`. */
export function withoutTokens(text: string, hidden: string): string {
  return text.replace(TOKENS, hidden);
}

/** Returns true if a text contains a JSON Web Token, with or without a prefix such as `Bearer`. */
export function isToken(text: string): boolean {
  return JSON_WEB_TOKEN.test(text);
}

/** Returns true for headers whose value is never logged. `lower` is in lower case. */
export function isSecretHeader(lower: string): boolean {
  return SECRET_HEADERS.has(lower);
}
