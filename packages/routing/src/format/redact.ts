const SECRET_PARAMETERS = /([?&](?:access_token|id_token|refresh_token|client_secret|token|code)=)[^&]*/gi;
const SECRET_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization', 'set-cookie']);

/** A path as a log may show it: values of query parameters that carry tokens are left out. */
export function redactPath(path: string): string {
  const query = path.indexOf('?');
  return query < 0 ? path : path.replace(SECRET_PARAMETERS, '$1[redacted]');
}

/** True for headers whose value no log shows. `lower` is in lower case. */
export function isSecretHeader(lower: string): boolean {
  return SECRET_HEADERS.has(lower);
}
