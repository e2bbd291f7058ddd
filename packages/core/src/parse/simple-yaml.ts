/** The value of a document, and the offset of its first key. */
export interface SimpleDocument {
  readonly value: unknown;
  readonly offset: number;
}

/** Anything but printable ASCII and line feeds. */
const OTHER_CHARACTER = /[^\n -~]/;
/** More levels are left to the parser with a limit. */
const MAX_DEPTH = 24;

const [NEWLINE, SPACE, DOUBLE_QUOTE, HASH, APOSTROPHE] = [10, 32, 34, 35, 39];
const [COMMA, DASH, COLON, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [44, 45, 58, 91, 92, 93, 123, 125];

/** Numbers that JavaScript writes in the same way. */
const USUAL_NUMBER = /^(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?$/;
const NUMBER =
  /^(?:0o[0-7]+|0x[\da-fA-F]+|[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const MAX_WORD = 5;
const WORDS = /^(?:null|Null|NULL|true|True|TRUE|false|False|FALSE)$/;

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const DIGITS = '0123456789';
const LETTER = tableOf(LETTERS);
/** Characters of keys after the first, which is a letter. */
const KEY = tableOf(`${LETTERS}${DIGITS}_-./`);
/** First characters of plain scalars, also after a dash. */
const FIRST = tableOf(`${LETTERS}${DIGITS}/._$^(+=`);
/** First characters of those that may be numbers or words. */
const FIRST_OF_TYPED = tableOf(`${DIGITS}-+.ntfNTF`);

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/** Thrown where a document leaves the subset; without a stack of its own. */
const NOT_SIMPLE = new Error('not a simple document');

/**
 * Reads a document in the subset of YAML in which most resources are written, several times faster than the parser of all YAML: a block mapping
 * with plain keys; sequences; scalars and flow collections on one line, without escapes and anchors; comments on lines of their own. Returns
 * the same value as that parser, and `undefined` for any other document, invalid ones included.
 */
export function readSimpleYaml(text: string): SimpleDocument | undefined {
  if (OTHER_CHARACTER.test(text)) return undefined;
  try {
    return new SimpleReader(text).document();
  } catch (error) {
    if (error === NOT_SIMPLE) return undefined;
    throw error;
  }
}

class SimpleReader {
  readonly #text: string;
  #at = 0;
  #lineStart = 0;
  /** The indentation of the current line, -1 at the end. */
  #indent = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): SimpleDocument {
    this.#nextLine();
    if (this.#indent === 0 && this.#text.startsWith('---', this.#at)) {
      this.#at += 3;
      this.#endLine();
    }
    if (this.#indent !== 0) throw NOT_SIMPLE;
    const offset = this.#at;
    const value = this.#mapping(0, 1);
    if (this.#at < this.#text.length) throw NOT_SIMPLE;
    return { value, offset };
  }

  /** Moves from the start of a line to the content of the next one that has any. */
  #nextLine(): void {
    const text = this.#text;
    let at = this.#at;
    for (;;) {
      this.#lineStart = at;
      while (text.charCodeAt(at) === SPACE) at++;
      const char = text.charCodeAt(at);
      if (char === HASH) {
        const end = text.indexOf('\n', at);
        at = end === -1 ? text.length : end + 1;
      } else if (char === NEWLINE) at++;
      else {
        this.#at = at;
        this.#indent = at < text.length ? at - this.#lineStart : -1;
        return;
      }
    }
  }

  /** Moves from the end of a value, which must be that of its line. */
  #endLine(): void {
    this.#skipSpaces();
    if (!this.#isAtEnd(this.#at)) throw NOT_SIMPLE;
    this.#at++;
    this.#nextLine();
  }

  #skipSpaces(): void {
    while (this.#text.charCodeAt(this.#at) === SPACE) this.#at++;
  }

  #isAtEnd(at: number): boolean {
    return at >= this.#text.length || this.#text.charCodeAt(at) === NEWLINE;
  }

  /** Returns true at a dash that begins an item of a sequence. */
  #isItem(): boolean {
    if (this.#text.charCodeAt(this.#at) !== DASH) return false;
    return this.#text.charCodeAt(this.#at + 1) === SPACE || this.#isAtEnd(this.#at + 1);
  }

  #block(depth: number): unknown {
    return this.#isItem() ? this.#sequence(this.#indent, depth) : this.#mapping(this.#indent, depth);
  }

  #mapping(indent: number, depth: number): unknown {
    if (depth > MAX_DEPTH) throw NOT_SIMPLE;
    const map: Record<string, unknown> = {};
    do {
      const key = this.#key(this.#keyEnd());
      this.#skipSpaces();
      this.#add(map, key, this.#isAtEnd(this.#at) ? this.#below(indent, depth) : this.#onLine(depth));
    } while (this.#indent === indent);
    if (this.#indent > indent) throw NOT_SIMPLE;
    return map;
  }

  /** Adds a pair; the names of members that every object has are unusual keys, such as `__proto__`. */
  #add(map: Record<string, unknown>, key: string, value: unknown): void {
    if (map[key] !== undefined) throw NOT_SIMPLE;
    map[key] = value;
  }

  /** Returns the value of a key at the end of a line. */
  #below(indent: number, depth: number): unknown {
    this.#endLine();
    if (this.#indent > indent) return this.#block(depth + 1);
    // The items of a sequence need no further indentation.
    return this.#indent === indent && this.#isItem() ? this.#sequence(indent, depth + 1) : null;
  }

  #sequence(indent: number, depth: number): unknown {
    if (depth > MAX_DEPTH) throw NOT_SIMPLE;
    const items: unknown[] = [];
    do {
      this.#at++;
      this.#skipSpaces();
      if (!this.#isAtEnd(this.#at)) items.push(this.#item(depth + 1));
      else {
        this.#endLine();
        if (this.#indent <= indent) throw NOT_SIMPLE;
        items.push(this.#block(depth + 1));
      }
    } while (this.#indent === indent && this.#isItem());
    if (this.#indent > indent) throw NOT_SIMPLE;
    return items;
  }

  #item(depth: number): unknown {
    return this.#keyEnd() === -1 ? this.#onLine(depth) : this.#mapping(this.#at - this.#lineStart, depth);
  }

  /** Returns the value that is the rest of the line. */
  #onLine(depth: number): unknown {
    const value = this.#value(depth, false);
    this.#endLine();
    return value;
  }

  /** Returns the offset of the colon after a key, -1 for anything else. */
  #keyEnd(): number {
    const text = this.#text;
    let at = this.#at;
    if (!LETTER[text.charCodeAt(at)]) return -1;
    while (KEY[text.charCodeAt(at)]) at++;
    if (text.charCodeAt(at) !== COLON) return -1;
    return text.charCodeAt(at + 1) === SPACE || this.#isAtEnd(at + 1) ? at : -1;
  }

  #key(end: number): string {
    if (end === -1) throw NOT_SIMPLE;
    const key = this.#text.slice(this.#at, end);
    if (key.length <= MAX_WORD && WORDS.test(key)) throw NOT_SIMPLE;
    this.#at = end + 1;
    return key;
  }

  #value(depth: number, isInFlow: boolean): unknown {
    const char = this.#text.charCodeAt(this.#at);
    if (char === APOSTROPHE || char === DOUBLE_QUOTE) return this.#quoted(char);
    if (char === OPEN_LIST) return this.#list(depth);
    if (char === OPEN_MAP) return this.#map(depth);
    return typed(this.#plain(isInFlow));
  }

  #quoted(quote: number): string {
    const text = this.#text;
    const start = this.#at + 1;
    let at = start;
    for (; text.charCodeAt(at) !== quote; at++) {
      if (this.#isAtEnd(at) || (quote === DOUBLE_QUOTE && text.charCodeAt(at) === BACKSLASH)) throw NOT_SIMPLE;
    }
    // Two of them are an escape.
    if (text.charCodeAt(at + 1) === quote) throw NOT_SIMPLE;
    this.#at = at + 1;
    return text.slice(start, at);
  }

  #plain(isInFlow: boolean): string {
    const text = this.#text;
    const start = this.#at;
    const first = text.charCodeAt(start);
    if (!FIRST[first === DASH ? text.charCodeAt(start + 1) : first]) throw NOT_SIMPLE;
    let at = start;
    let end = start;
    for (; !this.#isAtEnd(at); at++) {
      const char = text.charCodeAt(at);
      if (char === SPACE) continue;
      if (char === COLON && !FIRST[text.charCodeAt(at + 1)]) throw NOT_SIMPLE;
      if (char === HASH && text.charCodeAt(at - 1) === SPACE) throw NOT_SIMPLE;
      if (isInFlow && isFlowIndicator(char)) break;
      end = at + 1;
    }
    this.#at = at;
    return text.slice(start, end);
  }

  /** Reads a list in brackets. */
  #list(depth: number): unknown {
    const items: unknown[] = [];
    if (this.#opens(CLOSE_LIST, depth)) return items;
    do items.push(this.#value(depth + 1, true));
    while (this.#continues(CLOSE_LIST));
    return items;
  }

  /** Reads a mapping in braces. */
  #map(depth: number): unknown {
    const map: Record<string, unknown> = {};
    if (this.#opens(CLOSE_MAP, depth)) return map;
    do {
      const key = this.#key(this.#keyEnd());
      this.#skipSpaces();
      this.#add(map, key, this.#value(depth + 1, true));
    } while (this.#continues(CLOSE_MAP));
    return map;
  }

  /** Enters a flow collection; returns true if it is empty. */
  #opens(close: number, depth: number): boolean {
    if (depth > MAX_DEPTH) throw NOT_SIMPLE;
    this.#at++;
    this.#skipSpaces();
    if (this.#text.charCodeAt(this.#at) !== close) return false;
    this.#at++;
    return true;
  }

  /** Returns true at a comma, and false at the end of a flow collection. */
  #continues(close: number): boolean {
    this.#skipSpaces();
    const char = this.#text.charCodeAt(this.#at++);
    if (char === close) return false;
    if (char !== COMMA) throw NOT_SIMPLE;
    this.#skipSpaces();
    return true;
  }
}

function isFlowIndicator(char: number): boolean {
  return char === COMMA || char === OPEN_LIST || char === CLOSE_LIST || char === OPEN_MAP || char === CLOSE_MAP;
}

/** Returns the value of a plain scalar. */
function typed(text: string): unknown {
  if (!FIRST_OF_TYPED[text.charCodeAt(0)]) return text;
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (USUAL_NUMBER.test(text)) return Number(text);
  if (NUMBER.test(text) || (text.length <= MAX_WORD && WORDS.test(text))) throw NOT_SIMPLE;
  return text;
}
