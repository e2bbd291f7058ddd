import { columnsOf, padColumns } from './columns.ts';
import { printable } from './printable.ts';

/** Cells longer than this are wrapped at a space, or cut into pieces where there is none. In columns. */
export const WRAP_COLUMNS = 30;

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
  const head = data.columns.map((column) => [column.toUpperCase()]);
  const rows = data.rows.map((row) =>
    row.map((cell) => wrap(printable(cell).replaceAll('\t', '  '), wrapColumns).split('\n')),
  );
  const widths = head.map((_, column) =>
    [head, ...rows].reduce((most, row) => Math.max(most, ...row[column]!.map(columnsOf)), 0),
  );
  const border = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`;
  const body = rows.flatMap((row) => rowLines(row, widths));
  return [border, ...rowLines(head, widths), border, ...body, ...(body.length > 0 ? [border] : [])].join('\n');
}

/** The lines of one row, of whose cells each is a list of lines. */
function rowLines(row: readonly (readonly string[])[], widths: readonly number[]): string[] {
  const height = Math.max(...row.map((cell) => cell.length));
  return Array.from({ length: height }, (_, line) => {
    const cells = row.map((cell, column) => ` ${padColumns(cell[line] ?? '', widths[column]!)} `);
    return `|${cells.join('|')}|`;
  });
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
