import { createRequire } from 'node:module';

// oxlint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u001a\u001c-\u007f]*$/;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const require = createRequire(import.meta.url);

/** Returns the width of a printable text on a terminal in columns; escape sequences of colours have none. */
export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  // Loaded with the first text beyond ASCII: it builds large regular expressions.
  const { default: stringWidth } = require('string-width') as typeof import('string-width');
  return stringWidth(text);
}

/** Fills a text up with spaces to a width in columns. */
export function padColumns(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - columnsOf(text)));
}

/** Returns the longest prefix of a text that fits into these columns, but at least its first character. */
export function sliceColumns(text: string, columns: number): string {
  const start = text.slice(0, Math.max(1, columns));
  if (ASCII.test(start) && ASCII.test(text[start.length] ?? '')) return start;
  let end = 0;
  let taken = 0;
  for (const { segment } of graphemes.segment(text)) {
    taken += columnsOf(segment);
    if (taken > columns && end > 0) break;
    end += segment.length;
  }
  return text.slice(0, end);
}
