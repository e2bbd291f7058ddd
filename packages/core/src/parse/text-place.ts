/** A place inside the text of a field, both from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** A text of a document: where it is written, and what it says. */
export interface WrittenText {
  readonly source: string;
  /** Where it begins in the source, with its quote or the sign of a block. */
  readonly offset: number;
  readonly value: string;
}

const BLANK = /\s/;
const BLANK_ESCAPES = new Set(['n', 't', 'r', ' ', '\t', '\n', '\r', 'v', 'f', '_', 'L', 'P']);
const HEX_ESCAPES: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

/** Line and column of an offset in a text. */
export function textPlace(text: string, offset: number): TextPlace {
  const lines = text.slice(0, offset).split(/\r\n|\n|\r/);
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

/**
 * Where in its source a place of a text is written; `undefined` when that cannot be told. Blocks, quotes and folding change only
 * blanks and escapes: what is no blank comes in the same order on both sides.
 */
export function findText({ source, offset, value }: WrittenText, place: TextPlace): number | undefined {
  const target = offsetOf(value, place);
  if (target === undefined) return undefined;
  const before = value.slice(0, target).replaceAll(/\s/g, '').length;
  const quote = source[offset];
  let at = contentStart(source, offset);
  for (let passed = 0; at < source.length;) {
    const { blank, length } = charAt(source, at, quote);
    if (!blank && passed++ === before) return fits(source[at]!, value[target]) ? at : undefined;
    at += length;
  }
  return undefined;
}

function offsetOf(text: string, { line, column }: TextPlace): number | undefined {
  const breaks = /\r\n|\n|\r/g;
  let start = 0;
  for (let passed = 1; passed < line; passed++) {
    if (!breaks.exec(text)) return undefined;
    start = breaks.lastIndex;
  }
  const target = start + column - 1;
  return target < text.length && !BLANK.test(text[target]!) ? target : undefined;
}

/** Behind the quote, or below the line that begins a block. */
function contentStart(source: string, offset: number): number {
  const sign = source[offset];
  if (sign === '"' || sign === "'") return offset + 1;
  if (sign !== '|' && sign !== '>') return offset;
  const lineEnd = source.indexOf('\n', offset);
  return lineEnd < 0 ? source.length : lineEnd + 1;
}

/** One character of a text as it is written. */
function charAt(source: string, at: number, quote: string | undefined): { blank: boolean; length: number } {
  const char = source[at]!;
  if (quote === '"' && char === '\\') {
    const kind = source[at + 1] ?? '';
    return { blank: BLANK_ESCAPES.has(kind), length: HEX_ESCAPES[kind] ?? 2 };
  }
  if (quote === "'" && char === "'") return { blank: false, length: 2 };
  return { blank: BLANK.test(char), length: 1 };
}

function fits(written: string, char: string | undefined): boolean {
  return written === char || written === '\\';
}
