/** Deepest nesting of objects and lists. */
const MAX_DEPTH = 100;
/** Longest number that is always exact, in characters. */
const EXACT_DIGITS = 15;

/** A number that JavaScript cannot represent exactly: a field of 64 bits keeps all of its digits. */
export class LargeNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Parses JSON of a client, strictly: UTF-8, no member twice, at most 100 levels. Integers beyond the exact range become
 * {@link LargeNumber}. Throws an `Error` that says what is wrong.
 *
 * @example
 * parseStrictJson(Buffer.from('{"id": 9007199254740993}')); // { id: LargeNumber }
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = decode(bytes);
  // Before the recursive parser reads it.
  const hasLarge = scan(text, undefined);
  let json: unknown;
  try {
    json = hasLarge ? (JSON.parse(text, keepLarge) as unknown) : (JSON.parse(text) as unknown);
  } catch (cause) {
    throw new Error('the body is not valid JSON', { cause });
  }
  scan(text, []);
  return json;
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes);
  } catch (cause) {
    throw new Error('the body is not UTF-8', { cause });
  }
}

/** Called with the text of a number by `JSON.parse`, which its types do not contain yet. */
function keepLarge(this: unknown, _key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value)) throw new Error('a number is too large');
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? new LargeNumber(context?.source ?? '') : value;
}

const QUOTE = 34;
const BACKSLASH = 92;

/**
 * Checks the depth of a text, and with `open` also the names of members; `open` requires valid JSON. Returns true if it may contain a number
 * that is not exact.
 */
function scan(text: string, open: (Set<string> | undefined)[] | undefined): boolean {
  let depth = 0;
  let digits = 0;
  let isLarge = false;
  let expectsName = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // Digits, signs, points and exponents of numbers.
    if ((code >= 48 && code <= 57) || code === 43 || code === 45 || code === 46 || code === 69 || code === 101) {
      if (++digits > EXACT_DIGITS || code === 69 || (code === 101 && digits > 1)) isLarge = true;
      continue;
    }
    digits = 0;
    if (code === QUOTE) {
      const end = endOfString(text, i);
      if (expectsName) addName(open!.at(-1)!, text.slice(i, end + 1));
      expectsName = false;
      i = end;
    } else if (code === 123 || code === 91) {
      if (++depth > MAX_DEPTH) throw new Error(`the JSON is nested more than ${MAX_DEPTH} levels deep`);
      open?.push(code === 123 ? new Set() : undefined);
      expectsName = open !== undefined && code === 123;
    } else if (code === 125 || code === 93) {
      depth--;
      open?.pop();
      expectsName = false;
    } else if (code === 44) expectsName = open?.at(-1) !== undefined;
  }
  return isLarge;
}

/** Returns the index of the quote that ends a string; of the last character if there is none. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === QUOTE) return i;
  }
  return text.length - 1;
}

function addName(names: Set<string>, written: string): void {
  const name = written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1);
  if (names.has(name)) throw new Error(`the member ${JSON.stringify(name.slice(0, 100))} occurs twice in an object`);
  names.add(name);
}
