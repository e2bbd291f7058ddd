const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Returns true for a token, such as the name of a header, a method or the name of a cookie (RFC 9110 §5.6.2). */
export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}
