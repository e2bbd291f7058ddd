import { columnsOf, padColumns, takeColumns } from './columns.ts';
import { printable } from './printable.ts';

/** A column is not made narrower than this, so that a very narrow terminal wraps the lines itself. */
const MIN_COLUMNS = 5;

/** A table as commands give it: every row has a cell per column; a line break in a cell starts a new line of it. */
export interface TableData {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The lines of one cell. */
type Cell = readonly string[];

/**
 * Draws a table with `+---+` borders and an upper-case header. Where it is wider than the terminal, cells of its widest
 * columns are wrapped: at a space, or in the middle of a word where there is none.
 *
 * @param width Columns of the terminal. Default: no limit, nothing is wrapped.
 */
export function renderTable(data: TableData, width = Infinity): string {
  const texts = [data.columns.map((column) => column.toUpperCase()), ...data.rows];
  const cells = texts.map((row) => row.map((cell): Cell => printable(cell).replaceAll('\t', '  ').split('\n')));
  const limits = shrink(widthsOf(cells), width - 3 * data.columns.length - 1);
  const wrapped = cells.map((row) =>
    row.map((cell, column) => cell.flatMap((line) => wrapLine(line, limits[column]!))),
  );
  const widths = widthsOf(wrapped);
  const border = `+${widths.map((columns) => '-'.repeat(columns + 2)).join('+')}+`;
  const [head, ...body] = wrapped.map((row) => rowLines(row, widths));
  const lines = body.flat();
  return [border, ...head!, border, ...lines, ...(lines.length > 0 ? [border] : [])].join('\n');
}

/** The width of each column: that of its widest line. */
function widthsOf(rows: readonly (readonly Cell[])[]): number[] {
  return rows[0]!.map((_, column) =>
    rows.reduce((most, row) => row[column]!.reduce((widest, line) => Math.max(widest, columnsOf(line)), most), 0),
  );
}

/** Makes the widest columns narrower until all of them fit into `total`. */
function shrink(widths: readonly number[], total: number): number[] {
  const limits = [...widths];
  const narrowestFirst = widths.map((width, column) => ({ width, column })).sort((a, b) => a.width - b.width);
  let left = total;
  for (const [i, { width, column }] of narrowestFirst.entries()) {
    const share = Math.floor(left / (widths.length - i));
    limits[column] = Math.min(width, Math.max(share, MIN_COLUMNS));
    left -= limits[column];
  }
  return limits;
}

/** The lines of one row. */
function rowLines(row: readonly Cell[], widths: readonly number[]): string[] {
  const height = Math.max(...row.map((cell) => cell.length));
  return Array.from({ length: height }, (_, line) => {
    const cells = row.map((cell, column) => ` ${padColumns(cell[line] ?? '', widths[column]!)} `);
    return `|${cells.join('|')}|`;
  });
}

/** Wraps a line into pieces of at most `columns`; leading spaces are kept on the first piece. */
export function wrapLine(line: string, columns: number): string[] {
  const pieces: string[] = [];
  let rest = line;
  while (rest.length * 2 > columns && columnsOf(rest) > columns) {
    const fitting = takeColumns(rest, columns);
    const space = rest[fitting.length] === ' ' ? fitting.length : fitting.lastIndexOf(' ');
    const isIndentation = space <= rest.length - rest.trimStart().length;
    pieces.push(isIndentation ? fitting : rest.slice(0, space));
    rest = isIndentation ? rest.slice(fitting.length) : rest.slice(space + 1);
  }
  return rest === '' && pieces.length > 0 ? pieces : [...pieces, rest];
}
