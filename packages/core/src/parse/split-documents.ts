/** The range of one document in a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const MARKER = /(?:^|\n)(?:---|\.\.\.)(?=[ \t\r\n]|$)/g;
const PREAMBLE_LINE = /^(?:[ \t\r]*(?:#.*)?|%.*)$/;

/**
 * Splits a YAML text at its document markers. A marker at the start of a line always ends a document
 * (YAML 1.2.2, 9.1.2), so that a broken document does not affect its neighbours.
 */
export function splitDocuments(text: string): Span[] {
  const starts = [text.charCodeAt(0) === 0xfeff && text.startsWith('---', 1) ? 1 : 0];
  for (const match of text.matchAll(MARKER)) {
    const at = match.index + (match[0].startsWith('\n') ? 1 : 0);
    const last = starts.at(-1)!;
    if (text[at] === '.') starts.push(endOfLine(text, at));
    else if (at > last && !isPreamble(text, last, at)) starts.push(at);
  }
  starts[0] = 0;
  return starts
    .map((start, i) => ({ start, end: starts[i + 1] ?? text.length }))
    .filter(({ start, end }) => end > start);
}

/** Comments and directives before a marker belong to the document after it. */
function isPreamble(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at = endOfLine(text, at)) {
    if (!PREAMBLE_LINE.test(text.slice(at, endOfLine(text, at)).trimEnd())) return false;
  }
  return true;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end + 1;
}
