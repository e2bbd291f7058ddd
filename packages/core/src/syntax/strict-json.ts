import { ExactNumber, parseJson } from './exact-number.ts';

/** Deepest nesting of objects and lists. */
const MAX_DEPTH = 100;

/**
 * Parses JSON of a client, strictly: UTF-8, no member twice, at most 100 levels. Rejects what two parsers could read differently. Numbers
 * that JavaScript cannot represent become {@link ExactNumber}. Throws an `Error` that says what is wrong.
 *
 * @example
 * parseStrictJson(Buffer.from('{"id": 9007199254740993}')); // { id: ExactNumber }
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  return parseStrictText(decode(bytes));
}

/** Parses a JSON object strictly, as {@link parseStrictJson}. Returns `undefined` for anything else. */
export function parseStrictObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseStrictText(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

function parseStrictText(text: string): unknown {
  // Before the recursive parser reads it.
  scan(text, undefined);
  let json: unknown;
  try {
    json = parseJson(text);
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

const QUOTE = 34;
const BACKSLASH = 92;

/** Checks the depth of a text, and with `open` also the names of members; `open` requires valid JSON. */
function scan(text: string, open: (Set<string> | undefined)[] | undefined): void {
  let depth = 0;
  let expectsName = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
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
