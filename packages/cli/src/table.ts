import Table from 'cli-table3';
import { printable } from './printable.ts';

/** Cells longer than this are wrapped at a space, or cut into pieces where there is none. In columns. */
export const WRAP_COLUMNS = 30;

const CHARS: Table.TableConstructorOptions['chars'] = {
  top: '-',
  'top-mid': '+',
  'top-left': '+',
  'top-right': '+',
  bottom: '-',
  'bottom-mid': '+',
  'bottom-left': '+',
  'bottom-right': '+',
  left: '|',
  'left-mid': '+',
  right: '|',
  'right-mid': '+',
  mid: '-',
  'mid-mid': '+',
  middle: '|',
};

/** A table as commands give it: every row has a cell per column; a line break in a cell starts a new line of it. */
export interface TableData {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * Draws a table with `+---+` borders and an upper-case header.
 *
 * @param wrapColumns Width at which cells are wrapped. Default {@link WRAP_COLUMNS}; `Infinity` wraps nothing.
 */
export function renderTable(data: TableData, wrapColumns: number = WRAP_COLUMNS): string {
  const head = data.columns.map((column) => column.toUpperCase());
  const table = new Table({ head, chars: CHARS, style: { head: [], border: [], compact: true } });
  for (const row of data.rows) table.push(row.map((cell) => wrap(printable(cell).replaceAll('\t', '  '), wrapColumns)));
  return table.toString();
}

/** Wraps each line of a text; leading spaces of a line are kept on its first piece. */
export function wrap(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => wrapLine(line, columns))
    .join('\n');
}

function wrapLine(line: string, columns: number): string[] {
  const pieces: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const space = rest.lastIndexOf(' ', columns);
    const breakAt = space > rest.length - rest.trimStart().length ? space : -1;
    pieces.push(breakAt > 0 ? rest.slice(0, breakAt) : rest.slice(0, columns));
    rest = breakAt > 0 ? rest.slice(breakAt + 1) : rest.slice(columns);
  }
  return [...pieces, rest];
}
