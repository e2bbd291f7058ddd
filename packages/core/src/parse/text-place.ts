/** A position inside the text of a field, both from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** A string of a document: its position and its value. */
export interface WrittenText {
  readonly source: string;
  /** Its start in the source, including its quote or block indicator. */
  readonly offset: number;
  readonly value: string;
}

const BLANK = /\s/;
const BLANK_ESCAPES = new Set(['n', 't', 'r', ' ', '\t', '\n', '\r', 'v', 'f', '_', 'L', 'P']);
const HEX_ESCAPES: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

/** Returns line and column of an offset in a text. */
export function textPlace(text: string, offset: number): TextPlace {
  const lines = text.slice(0, offset).split(/\r\n|\n|\r/);
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

/**
 * Returns the source position of a position in a string; `undefined` if it is ambiguous. Blocks, quotes and folding change only
 * white space and escapes: all other characters have the same order on both sides.
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

/** After the quote, or below the line that begins a block. */
function contentStart(source: string, offset: number): number {
  const sign = source[offset];
  if (sign === '"' || sign === "'") return offset + 1;
  if (sign !== '|' && sign !== '>') return offset;
  const lineEnd = source.indexOf('\n', offset);
  return lineEnd < 0 ? source.length : lineEnd + 1;
}

/** One character of a string as written. */
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
