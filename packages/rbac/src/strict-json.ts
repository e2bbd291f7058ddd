const MAX_DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * Parses an object as JSON, but refuses what two readers could read differently: a name that stands twice in one
 * object, or more than 64 levels. Gives `undefined` for what is not such a document.
 */
export function parseStrictObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    // Of a name that stands twice only one is left.
    return countColons(text) === countNames(value, 1) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** How many names stand in a JSON text: each has a colon behind it, and there are others only within strings. */
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

/** How many names a value has, those within it included. Throws a `RangeError` where it is too deep. */
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
