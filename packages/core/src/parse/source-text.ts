import { isUtf8 } from 'node:buffer';
import type { Origin } from '../resource/resource.ts';
import type { Problem } from '../resource/problem.ts';

/** The text of one unit, which converts offsets to lines and columns. */
export interface SourceText {
  readonly unit: string;
  readonly text: string;
  originAt(offset: number): Origin;
}

/** A problem of a text before it is assigned to a document. */
export type TextProblem = Pick<Problem, 'code' | 'message' | 'hint'> & { readonly offset: number };

/** Default limit of the size of one file: 16 MiB. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Line starts of shorter texts are counted at each call: most files are small, and few have several positions. */
const INDEXED_LENGTH = 4096;

export function createSourceText(unit: string, text: string): SourceText {
  return new TextOfUnit(unit, text);
}

class TextOfUnit implements SourceText {
  readonly unit: string;
  readonly text: string;
  #lineStarts: Uint32Array | undefined;

  constructor(unit: string, text: string) {
    this.unit = unit;
    this.text = text;
  }

  originAt(offset: number): Origin {
    const { line, start } = this.text.length < INDEXED_LENGTH ? countLines(this.text, offset) : this.#lineAt(offset);
    return { file: this.unit, line: line + 1, column: offset - start + 1 };
  }

  #lineAt(offset: number): Line {
    this.#lineStarts ??= findLineStarts(this.text);
    const line = lineOf(this.#lineStarts, offset);
    return { line, start: this.#lineStarts[line]! };
  }
}

/** The index of a line and its offset. */
interface Line {
  readonly line: number;
  readonly start: number;
}

function countLines(text: string, offset: number): Line {
  let line = 0;
  let start = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++;
    start = at + 1;
  }
  return { line, start };
}

function findLineStarts(text: string): Uint32Array {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return Uint32Array.from(starts);
}

function lineOf(starts: Uint32Array, offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Reads bytes as UTF-8 up to a size; returns the problem of the whole unit, if any. */
export function decodeSource(
  input: string | Uint8Array,
  unit: string,
  maxBytes = MAX_FILE_BYTES,
): { readonly source: SourceText; readonly problem?: TextProblem } {
  const bytes = typeof input === 'string' ? input.length : input.byteLength;
  if (bytes > maxBytes) return { source: createSourceText(unit, ''), problem: tooLarge(bytes, maxBytes) };
  if (typeof input === 'string') return { source: createSourceText(unit, input) };
  const buffer = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  const source = createSourceText(unit, buffer.toString('utf8'));
  return isUtf8(buffer) ? { source } : { source, problem: notUtf8(buffer, source.text) };
}

/** Returns the problem of a file above the limit. */
export function tooLarge(bytes: number, maxBytes: number): TextProblem {
  const message = `the file has ${bytes} bytes`;
  return { code: 'FILE_TOO_LARGE', offset: 0, message, hint: `at most ${maxBytes}` };
}

function notUtf8(buffer: Buffer, text: string): TextProblem {
  const offset = firstReplaced(buffer, text);
  return {
    code: 'INVALID_UTF8',
    offset,
    message: 'the file is not valid UTF-8 from this position',
    hint: 'save it as UTF-8',
  };
}

/** Returns the first U+FFFD that replaced invalid bytes, unlike one in the text. */
function firstReplaced(buffer: Buffer, text: string): number {
  let bytes = 0;
  let from = 0;
  for (let at = text.indexOf('\ufffd'); at !== -1; at = text.indexOf('\ufffd', from)) {
    bytes += Buffer.byteLength(text.slice(from, at));
    if (buffer[bytes] !== 0xef || buffer[bytes + 1] !== 0xbf || buffer[bytes + 2] !== 0xbd) return at;
    bytes += 3;
    from = at + 1;
  }
  return 0;
}
