/** An attribute in lower case, and its value. */
type Pair = readonly [type: string, value: string];

/** Characters that have a meaning in a value (RFC 4514 §2.4), and controls. */
// oxlint-disable-next-line no-control-regex
const SPECIAL = /["+,;<=>\\#\u0000-\u001f\u007f]/g;

/** Returns text as a value of a distinguished name (RFC 4514 §2.4): no character of it ends the value or begins another one. */
export function escapeValue(text: string): string {
  const escaped = text.replaceAll(SPECIAL, (char) => `\\${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return escaped.replace(/^ /, String.raw`\20`).replace(/ $/, String.raw`\20`);
}

/** Returns the parts of a distinguished name (RFC 4514 §3), each a list of attributes with unescaped values. `undefined` if it is malformed. */
export function parseName(text: string): readonly (readonly Pair[])[] | undefined {
  if (text.trim() === '') return [];
  const parts: Pair[][] = [[]];
  let at = 0;
  for (;;) {
    const equals = text.indexOf('=', at);
    const type = equals < 0 ? '' : text.slice(at, equals).trim().toLowerCase();
    if (!/^(?:[a-z][a-z0-9-]*|\d+(?:\.\d+)*)$/.test(type)) return undefined;
    const read = readValue(text, equals + 1);
    if (!read) return undefined;
    parts.at(-1)!.push([type, read.value]);
    if (read.end === text.length) return parts;
    if (text[read.end] !== '+') parts.push([]);
    at = read.end + 1;
  }
}

/** Reads a value up to the separator that ends it. */
function readValue(text: string, from: number): { readonly value: string; readonly end: number } | undefined {
  const bytes: Buffer[] = [];
  let end = from;
  while (text[end] === ' ') end++;
  /** Number of chunks up to the last one that is not a plain space at the end. */
  let kept = 0;
  for (; end < text.length && !',;+'.includes(text[end]!); end++) {
    const char = String.fromCodePoint(text.codePointAt(end)!);
    if (char === '\\') {
      const hex = /^[0-9a-f]{2}/i.exec(text.slice(end + 1, end + 3))?.[0];
      if (hex === undefined && !/^["+,;<=>\\# ]$/.test(text[end + 1] ?? '')) return undefined;
      bytes.push(hex === undefined ? Buffer.from(text[end + 1]!) : Buffer.from(hex, 'hex'));
      end += hex === undefined ? 1 : 2;
      kept = bytes.length;
      continue;
    }
    if (char === '"' || char === '\0') return undefined;
    if (char.length === 2) end++;
    bytes.push(Buffer.from(char));
    if (char !== ' ') kept = bytes.length;
  }
  return { value: Buffer.concat(bytes.slice(0, kept)).toString('utf8'), end };
}

/**
 * Returns the same text for all spellings of a distinguished name, as directories compare the names of users and groups: without regard
 * to case, to the order of attributes in a part, and to repeated spaces. `undefined` if it is malformed.
 */
export function canonicalName(text: string): string | undefined {
  const parts = parseName(text);
  return parts && JSON.stringify(parts.map((pairs) => pairs.map(canonicalPair).sort()));
}

function canonicalPair([type, value]: Pair): string {
  return JSON.stringify([type, value.replaceAll(/ {2,}/g, ' ').toLowerCase()]);
}

/**
 * Returns the user name as the directory writes it: directories ignore case, so that one user can log in under several spellings.
 * `undefined` if the entry has another attribute first than the name that was asked for.
 */
export function userIdOf(found: string, asked: string): string | undefined {
  const [[first] = []] = parseName(found) ?? [];
  const [[own] = []] = parseName(asked) ?? [];
  return first?.[0] === own?.[0] ? first?.[1] : undefined;
}
