import { boolCoreTag, floatCoreTag, intCoreTag, NOT_RESOLVED, nullCoreTag } from 'js-yaml';

/** The value of a document and its offset in the text. */
export interface PlainDocument {
  readonly value: unknown;
  readonly offset: number;
}

type Json = Record<string, unknown>;

/** Deeper documents are left to the complete parser, which has its own limit. */
const MAX_DEPTH = 32;
/** Every character except printable ASCII, line feeds, and printable characters of the basic plane without byte order marks. */
const UNUSUAL_CHARACTER = /[^\n -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
/** Thrown for everything that is not in the subset; without a new stack trace for each document. */
const UNUSUAL = new Error('not in the subset of YAML');

const [NEWLINE, SPACE, HASH, COMMA, DASH, COLON, BACKSLASH] = [10, 32, 35, 44, 45, 58, 92];
const [DOUBLE_QUOTE, SINGLE_QUOTE] = [34, 39];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [91, 93, 123, 125];

/** Returns which ASCII characters are in a text. */
function charactersOf(text: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of text) table[character.charCodeAt(0)] = 1;
  return table;
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_START = charactersOf(`${LETTERS}_`);
const KEY_PART = charactersOf(`${LETTERS}0123456789_-./`);
/** Indicators with which no plain scalar of the subset starts. A dash may start one if no space follows. */
const INDICATORS = charactersOf('?:,[]{}#&*!|>\'"%@`');
const FLOW_ENDS = charactersOf(',[]{}\n');
/** The first characters of plain scalars that may be something other than text. */
const TYPED_START = charactersOf('-+.~0123456789nNtTfF');
const WORDS: ReadonlySet<string> = new Set('null Null NULL true True TRUE false False FALSE'.split(' '));
const LONGEST_WORD = 5;

/**
 * Reads a document in the subset of YAML that most resources are written in, several times as fast as the complete parser and with less memory: block
 * maps and lists, flow collections, plain and quoted scalars on one line, comments. Returns `undefined` for everything else, valid or not; the complete
 * parser reads it. A document that this function reads has the same value there, and no problem.
 */
export function readPlainYaml(text: string): PlainDocument | undefined {
  if (UNUSUAL_CHARACTER.test(text)) return undefined;
  try {
    return new PlainReader(text).document();
  } catch (error) {
    if (error === UNUSUAL) return undefined;
    throw error;
  }
}

class PlainReader {
  readonly #text: string;
  #at = 0;
  /** Indentation of the line at `#at`, if that is the first character of a line; -1 at the end. */
  #indent = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): PlainDocument {
    this.#toContent();
    if (this.#isAtMargin() && this.#text.startsWith('---', this.#at)) {
      this.#at += 3;
      this.#toNextLine();
    }
    if (!this.#isAtMargin()) throw UNUSUAL;
    const offset = this.#at;
    const isFlow = this.#text.charCodeAt(offset) === OPEN_MAP;
    const value = isFlow ? this.#flowMap(1, 0) : this.#blockMap(0, 1);
    if (isFlow) this.#toNextLine();
    if (!this.#isAtEnd()) throw UNUSUAL;
    return { value, offset };
  }

  #isAtMargin(): boolean {
    return this.#indent === 0;
  }

  #isAtEnd(): boolean {
    return this.#indent < 0;
  }

  /** Moves from the start of a line to the next character that is neither white space nor in a comment. */
  #toContent(): void {
    const text = this.#text;
    let line = this.#at;
    while (line < text.length) {
      let at = line;
      while (text.charCodeAt(at) === SPACE) at++;
      const first = text.charCodeAt(at);
      if (first === HASH) line = this.#lineEnd(at) + 1;
      else if (first === NEWLINE) line = at + 1;
      else if (at === text.length) break;
      else {
        this.#at = at;
        this.#indent = at - line;
        return;
      }
    }
    this.#at = text.length;
    this.#indent = -1;
  }

  /** Moves from the end of a value to the next content. Nothing but a comment may follow on the same line. */
  #toNextLine(): void {
    const text = this.#text;
    let at = this.#at;
    while (text.charCodeAt(at) === SPACE) at++;
    if (text.charCodeAt(at) === HASH && text.charCodeAt(at - 1) === SPACE) at = this.#lineEnd(at);
    if (at < text.length && text.charCodeAt(at) !== NEWLINE) throw UNUSUAL;
    this.#at = at + 1;
    this.#toContent();
  }

  #lineEnd(at: number): number {
    const end = this.#text.indexOf('\n', at);
    return end === -1 ? this.#text.length : end;
  }

  #blockMap(indent: number, depth: number): Json {
    if (depth > MAX_DEPTH) throw UNUSUAL;
    const map: Json = {};
    do {
      const key = this.#key();
      const next = this.#text.charCodeAt(this.#at);
      if (next !== SPACE && next !== NEWLINE && this.#at < this.#text.length) throw UNUSUAL;
      if (Object.hasOwn(map, key)) throw UNUSUAL;
      map[key] = this.#blockValue(indent, depth + 1);
    } while (this.#indent === indent);
    if (this.#indent > indent) throw UNUSUAL;
    return map;
  }

  /** Reads the value of a key of a map with this indentation. */
  #blockValue(indent: number, depth: number): unknown {
    const first = this.#skipSpaces();
    if (first !== NEWLINE && first !== HASH && this.#at < this.#text.length) return this.#lineValue(indent, depth);
    this.#toNextLine();
    if (this.#indent < indent) return null;
    if (this.#isEntry()) return this.#blockList(this.#indent, depth);
    return this.#indent > indent ? this.#blockMap(this.#indent, depth) : null;
  }

  #isEntry(): boolean {
    return this.#text.charCodeAt(this.#at) === DASH && this.#text.charCodeAt(this.#at + 1) === SPACE;
  }

  #blockList(indent: number, depth: number): unknown[] {
    if (depth > MAX_DEPTH) throw UNUSUAL;
    const list: unknown[] = [];
    do {
      const start = this.#at++;
      const first = this.#skipSpaces();
      if (first === HASH) throw UNUSUAL;
      const isMap = this.#isKey();
      list.push(isMap ? this.#blockMap(indent + this.#at - start, depth + 1) : this.#lineValue(indent, depth + 1));
    } while (this.#indent === indent && this.#isEntry());
    if (this.#indent > indent) throw UNUSUAL;
    return list;
  }

  /** Reads a value that ends on the line where it starts, or a flow collection. What follows must not belong to it. */
  #lineValue(indent: number, depth: number): unknown {
    const first = this.#text.charCodeAt(this.#at);
    let value: unknown;
    if (first === OPEN_MAP) value = this.#flowMap(depth, indent + 1);
    else if (first === OPEN_LIST) value = this.#flowList(depth, indent + 1);
    else if (first === DOUBLE_QUOTE || first === SINGLE_QUOTE) value = this.#quoted(first);
    else value = this.#plain();
    this.#toNextLine();
    if (this.#indent > indent) throw UNUSUAL;
    return value;
  }

  /** Reads a plain scalar up to the end of the line or a comment. */
  #plain(): unknown {
    const text = this.#text;
    const start = this.#at;
    this.#checkStart();
    const lineEnd = this.#lineEnd(start);
    let end = start;
    let at = start;
    for (; at < lineEnd; at++) {
      const character = text.charCodeAt(at);
      if (character === SPACE) continue;
      if (character === COLON && (at + 1 === lineEnd || text.charCodeAt(at + 1) === SPACE)) throw UNUSUAL;
      if (character === HASH && text.charCodeAt(at - 1) === SPACE) break;
      end = at + 1;
    }
    this.#at = at;
    return typed(text.slice(start, end));
  }

  #checkStart(): void {
    const first = this.#text.charCodeAt(this.#at);
    if (!(first > SPACE) || INDICATORS[first] === 1) throw UNUSUAL;
    if (first === DASH && KEY_PART[this.#text.charCodeAt(this.#at + 1)] !== 1) throw UNUSUAL;
  }

  /** Whether a plain key and its colon are here. */
  #isKey(): boolean {
    const text = this.#text;
    let at = this.#at;
    if (KEY_START[text.charCodeAt(at)] !== 1) return false;
    while (KEY_PART[text.charCodeAt(at)] === 1) at++;
    if (text.charCodeAt(at) !== COLON) return false;
    const next = text.charCodeAt(at + 1);
    return next === SPACE || next === NEWLINE || at + 1 === text.length;
  }

  /** Reads a key and its colon. */
  #key(): string {
    const text = this.#text;
    const start = this.#at;
    const first = text.charCodeAt(start);
    let key: string;
    if (first === DOUBLE_QUOTE || first === SINGLE_QUOTE) key = this.#quoted(first);
    else {
      if (KEY_START[first] !== 1) throw UNUSUAL;
      let at = start + 1;
      while (KEY_PART[text.charCodeAt(at)] === 1) at++;
      this.#at = at;
      key = text.slice(start, at);
      if (key.length <= LONGEST_WORD && WORDS.has(key)) throw UNUSUAL;
    }
    if (text.charCodeAt(this.#at) !== COLON || key === '__proto__') throw UNUSUAL;
    this.#at++;
    return key;
  }

  #quoted(quote: number): string {
    const text = this.#text;
    const start = this.#at;
    let isEscaped = false;
    let at = start + 1;
    for (; ; at++) {
      const character = text.charCodeAt(at);
      if (character === quote) break;
      // Also at the end of the text, where it is not a number.
      if (!(character >= SPACE)) throw UNUSUAL;
      if (character !== BACKSLASH || quote === SINGLE_QUOTE) continue;
      isEscaped = true;
      at++;
    }
    this.#at = at + 1;
    if (quote === SINGLE_QUOTE && text.charCodeAt(at + 1) === SINGLE_QUOTE) throw UNUSUAL;
    return isEscaped ? unescaped(text.slice(start, at + 1)) : text.slice(start + 1, at);
  }

  /** Following lines must have this indentation. */
  #flowMap(depth: number, indent: number): Json {
    if (depth > MAX_DEPTH) throw UNUSUAL;
    const map: Json = {};
    this.#at++;
    while (this.#skipFlowSpace(indent) !== CLOSE_MAP) {
      const isQuoted = KEY_START[this.#text.charCodeAt(this.#at)] !== 1;
      const key = this.#key();
      if (!isQuoted && this.#text.charCodeAt(this.#at) !== SPACE) throw UNUSUAL;
      if (Object.hasOwn(map, key)) throw UNUSUAL;
      map[key] = this.#flowValue(depth + 1, indent);
      this.#endFlowEntry(CLOSE_MAP, indent);
    }
    this.#at++;
    return map;
  }

  #flowList(depth: number, indent: number): unknown[] {
    if (depth > MAX_DEPTH) throw UNUSUAL;
    const list: unknown[] = [];
    this.#at++;
    while (this.#skipFlowSpace(indent) !== CLOSE_LIST) {
      list.push(this.#flowValue(depth + 1, indent));
      this.#endFlowEntry(CLOSE_LIST, indent);
    }
    this.#at++;
    return list;
  }

  #endFlowEntry(close: number, indent: number): void {
    const next = this.#skipFlowSpace(indent);
    if (next === COMMA) this.#at++;
    else if (next !== close) throw UNUSUAL;
  }

  #flowValue(depth: number, indent: number): unknown {
    const first = this.#skipFlowSpace(indent);
    if (first === OPEN_MAP) return this.#flowMap(depth, indent);
    if (first === OPEN_LIST) return this.#flowList(depth, indent);
    if (first === DOUBLE_QUOTE || first === SINGLE_QUOTE) return this.#quoted(first);
    return this.#flowPlain();
  }

  #flowPlain(): unknown {
    const text = this.#text;
    const start = this.#at;
    this.#checkStart();
    let end = start;
    let at = start;
    for (; at < text.length; at++) {
      const character = text.charCodeAt(at);
      if (character === SPACE) continue;
      if (FLOW_ENDS[character] === 1) break;
      if (character === COLON || character === HASH) {
        const neighbor = text.charCodeAt(character === COLON ? at + 1 : at - 1);
        if (neighbor === SPACE || FLOW_ENDS[neighbor] === 1) throw UNUSUAL;
      }
      end = at + 1;
    }
    this.#at = at;
    return typed(text.slice(start, end));
  }

  /** Moves to the next character that is not white space, and returns it. */
  #skipSpaces(): number {
    const text = this.#text;
    let at = this.#at;
    while (text.charCodeAt(at) === SPACE) at++;
    this.#at = at;
    return text.charCodeAt(at);
  }

  /** The same across lines, which must have this indentation. */
  #skipFlowSpace(indent: number): number {
    let next = this.#skipSpaces();
    if (next !== NEWLINE) return next;
    let line = this.#at;
    while (next === NEWLINE) {
      line = ++this.#at;
      next = this.#skipSpaces();
    }
    if (this.#at - line < indent) throw UNUSUAL;
    return next;
  }
}

/** The escapes of JSON have the same meaning in YAML. */
function unescaped(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    throw UNUSUAL;
  }
}

const TAGS = [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag];
const DIGITS = /^[0-9]{1,15}$/;

/** Returns the value of a plain scalar by the core schema. */
function typed(text: string): unknown {
  const first = text.charCodeAt(0);
  if (TYPED_START[first] !== 1) return text;
  if (KEY_START[first] === 1 && text.length > LONGEST_WORD) return text;
  if (DIGITS.test(text)) return Number(text);
  for (const tag of TAGS) {
    const value = tag.resolve(text, false, tag.tagName);
    if (value !== NOT_RESOLVED) return value;
  }
  return text;
}
