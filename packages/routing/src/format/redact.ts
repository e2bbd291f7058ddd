const SECRET_PARAMETERS: ReadonlySet<string> = new Set([
  'access_token',
  'client_secret',
  'code',
  'id_token',
  'id_token_hint',
  'logout_token',
  'refresh_token',
  'token',
]);
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'api-key',
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
  'x-api-key',
]);
/** A JSON Web Token, in whatever header or parameter a provider looks for it: its header begins with `{`. */
const JSON_WEB_TOKEN = /(?<![\w-])(?:ey[AJ]|ew[0ko])[\w-]{5,}\.[\w-]+\.[\w-]+/;
const REDACTED = '[redacted]';

/**
 * An address, or a path, as a log may show it: values of query parameters that carry tokens by their name, or look like
 * one, are left out. Names count as a server reads them, so with their escapes resolved.
 */
export function redactPath(path: string): string {
  const query = path.indexOf('?');
  if (query < 0) return path;
  const parts = path.slice(query + 1).split('&');
  return `${path.slice(0, query)}?${parts.map(redactParameter).join('&')}`;
}

function redactParameter(part: string): string {
  const cut = part.indexOf('=');
  if (cut < 0) return JSON_WEB_TOKEN.test(part) ? REDACTED : part;
  const name = part.slice(0, cut);
  const isSecret = SECRET_PARAMETERS.has(unescaped(name).toLowerCase()) || isToken(unescaped(part.slice(cut + 1)));
  return isSecret ? `${name}=${REDACTED}` : part;
}

function unescaped(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** True for a text that has a JSON Web Token in it, with or without a prefix such as `Bearer`. */
export function isToken(text: string): boolean {
  return JSON_WEB_TOKEN.test(text);
}

/** True for headers whose value no log shows. `lower` is in lower case. */
export function isSecretHeader(lower: string): boolean {
  return SECRET_HEADERS.has(lower);
}
