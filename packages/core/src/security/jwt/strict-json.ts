const MAX_DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * Parses a JSON object, but rejects what two parsers could read differently: a duplicate name within one
 * object, or more than 64 levels. Returns `undefined` for anything else.
 */
export function parseStrictObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    // Parsing keeps one of two members with the same name.
    return countColons(text) === countNames(value, 1) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Counts the names in a JSON text: a colon follows each of them, and further colons occur only within strings. */
function countColons(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === COLON) count++;
    else if (code === QUOTE) i = endOfString(text, i);
  }
  return count;
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  for (let code = text.charCodeAt(i); code !== QUOTE; code = text.charCodeAt(i)) i += code === BACKSLASH ? 2 : 1;
  return i;
}

/** Counts the names in a value at all levels. Throws a `RangeError` if it is too deep. */
function countNames(value: object, depth: number): number {
  if (depth > MAX_DEPTH) throw new RangeError('too deep');
  let count = 0;
  if (Array.isArray(value)) {
    for (const each of value as readonly unknown[]) if (isObject(each)) count += countNames(each, depth + 1);
    return count;
  }
  for (const each of Object.values(value) as readonly unknown[]) {
    count++;
    if (isObject(each)) count += countNames(each, depth + 1);
  }
  return count;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
