const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const DELETE = 127;

/**
 * Whether lines of headers have what they must not have: control characters, and line breaks that are not CR LF
 * (RFC 9112 2.2).
 */
export function hasBrokenLines(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= SPACE && code !== DELETE) continue;
    if (code === TAB) continue;
    if (code !== CR || text.charCodeAt(++i) !== LF) return true;
  }
  return false;
}
