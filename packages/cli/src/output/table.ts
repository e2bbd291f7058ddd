import { printable } from '@edge-gateway/core';
import { columnsOf, padColumns, sliceColumns } from './text-width.ts';

/** Minimum width of a column; a very narrow terminal wraps the lines itself. */
const MIN_COLUMNS = 5;

/** A table: every row has a cell per column; a line break in a cell starts a new line in it. */
export interface TableData {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

type Cell = readonly string[];

/**
 * Draws a table with `+---+` borders and an upper-case header. Where it is wider than the terminal, empty columns are left
 * out and cells of the widest ones are wrapped at spaces. Where that would break words, each row becomes a block of
 * `NAME  value` lines. Only words that do not fit into a line of such a block are broken in a table.
 *
 * @param width Columns of the terminal. Default: no limit, nothing is wrapped.
 */
export function renderTable(data: TableData, width = Infinity): string {
  const texts = [data.columns.map((column) => column.toUpperCase()), ...data.rows];
  const all = texts.map((row) => row.map((cell): Cell => printable(cell).replaceAll('\t', '  ').split('\n')));
  const fits = sum(widthsOf(all)) + 3 * data.columns.length + 1 <= width;
  const shown = fits ? [...data.columns.keys()] : filledColumns(all, data.columns.length);
  const rows = fits ? all : [all[0]!, ...withContinuations(all.slice(1))];
  const cells = rows.map((row) => shown.map((column) => row[column]!));
  const limits = shrink(cells, { total: width - 3 * shown.length - 1, room: blockRoom(cells[0]!, width) });
  if (!limits || (!fits && data.rows.length === 0)) return renderBlocks(cells, width);
  const wrapped = cells.map((row) =>
    row.map((cell, column) => cell.flatMap((line) => wrapLine(line, limits[column]!))),
  );
  const widths = widthsOf(wrapped);
  const border = `+${widths.map((columns) => '-'.repeat(columns + 2)).join('+')}+`;
  const [head, ...body] = wrapped.map((row) => rowLines(row, widths));
  const lines = body.flat();
  return [border, ...head!, border, ...lines, ...(lines.length > 0 ? [border] : [])].join('\n');
}

function widthsOf(rows: readonly (readonly Cell[])[]): number[] {
  return rows[0]!.map((_, column) =>
    rows.reduce((most, row) => row[column]!.reduce((widest, line) => Math.max(widest, columnsOf(line)), most), 0),
  );
}

/**
 * Reduces the widest columns until all of them fit into `total`. Returns `undefined` if that would break words
 * of at most `room` columns, which a block keeps whole; longer words need half of that.
 */
function shrink(rows: readonly (readonly Cell[])[], { total, room }: { total: number; room: number }) {
  const widths = widthsOf(rows);
  if (sum(widths) <= total) return widths;
  const needed = rows[0]!.map((_, column) =>
    rows.reduce((most, row) => Math.max(most, ...row[column]!.map((line) => neededBy(line, room))), MIN_COLUMNS),
  );
  const floors = widths.map((width, column) => Math.min(width, needed[column]!));
  if (sum(floors) > total) return undefined;
  const limits = [...floors];
  const nearest = widths.map((width, column) => ({ missing: width - floors[column]!, column }));
  nearest.sort((a, b) => a.missing - b.missing);
  let left = Math.max(0, total - sum(floors));
  for (const [i, { missing, column }] of nearest.entries()) {
    const more = Math.min(missing, Math.floor(left / (widths.length - i)));
    limits[column]! += more;
    left -= more;
  }
  return limits;
}

/** The columns that the words of a line need; its first word is indented with the line, and follows the dash of a list item. */
function neededBy(line: string, room: number): number {
  const words = (line.match(/^ *(?:- +)?[^ ]+|[^ ]+/g) ?? []).map(columnsOf);
  return words.reduce((most, word) => Math.max(most, word <= room ? word : Math.ceil(room / 2)), 0);
}

const titlesOf = (head: readonly Cell[]): string[] => head.map((cell) => cell.join(' '));

const blockRoom = (head: readonly Cell[], width: number): number => Math.max(MIN_COLUMNS, width - blockIndent(head));

const blockIndent = (head: readonly Cell[]): number => Math.max(...titlesOf(head).map(columnsOf)) + 2;

/** Renders each row as a block: the header of a column, then its cell; without rows, the headers only, if they fit into a line. */
function renderBlocks([head, ...rows]: readonly (readonly Cell[])[], width: number): string {
  const titles = titlesOf(head!);
  const indent = blockIndent(head!);
  const room = blockRoom(head!, width);
  const block = (row: readonly Cell[]) =>
    row.flatMap((cell, column) =>
      cell
        .filter((line) => line.trim() !== '')
        .flatMap((line) => wrapLine(line, room))
        .map((line, i) => padColumns(i === 0 ? titles[column]! : '', indent) + line),
    );
  const rule = '-'.repeat(Math.min(width, indent + MIN_COLUMNS));
  if (rows.length === 0) {
    const line = titles.join('  ');
    return columnsOf(line) <= width ? line : '';
  }
  return rows.map((row) => block(row).join('\n')).join(`\n${rule}\n`);
}

/** Joins rows without a name to the row that they continue. */
function withContinuations(rows: readonly (readonly Cell[])[]): readonly (readonly Cell[])[] {
  const joined: Cell[][] = [];
  for (const row of rows) {
    const last = joined.at(-1);
    const continues = last && row[0]!.every((line) => line === '');
    if (continues) for (const [column, cell] of row.entries()) last[column] = [...last[column]!, ...cell];
    else joined.push([...row]);
  }
  return joined.map((row) => row.map((cell, column) => (column < row.length - 1 ? withoutTrailing(cell) : cell)));
}

/** Returns a cell without the empty lines at its end, beside which other columns continue. */
const withoutTrailing = (cell: Cell): Cell => cell.slice(0, 1 + cell.findLastIndex((line) => line !== ''));

const sum = (widths: readonly number[]): number => widths.reduce((all, width) => all + width, 0);

/** Returns the columns with content below the header, or all columns if there is none. */
function filledColumns([, ...rows]: readonly (readonly Cell[])[], columns: number): number[] {
  const all = Array.from({ length: columns }, (_, column) => column);
  const filled = all.filter((column) => rows.some((row) => row[column]!.some((line) => line !== '')));
  return filled.length > 0 ? filled : all;
}

function rowLines(row: readonly Cell[], widths: readonly number[]): string[] {
  const height = Math.max(...row.map((cell) => cell.length));
  return Array.from({ length: height }, (_, line) => {
    const cells = row.map((cell, column) => ` ${padColumns(cell[line] ?? '', widths[column]!)} `);
    return `|${cells.join('|')}|`;
  });
}

/** Wraps every line of a text at spaces, but not inside of a command at its end; continued lines are indented below their first one. */
export function wrapText(text: string, width: number): string {
  if (width === Infinity) return text;
  return text
    .replaceAll('\t', '    ')
    .split('\n')
    .flatMap((line) => wrapHanging(line, width))
    .join('\n');
}

/** A command at the end of a line, which is copied as a whole. */
const COMMAND = /(?<=\S )(?:npm (?:start|run \S+) -- |gatewayctl [a-z]+(?= |\)?$))[^,;]*$/;

function wrapHanging(line: string, width: number): string[] {
  const [command] = (columnsOf(line) > width && COMMAND.exec(line)) || [];
  if (command !== undefined) return [...wrapHanging(line.slice(0, -command.length - 1), width), `    ${command}`];
  const [first = ''] = wrapLine(line, width);
  const rest = line.slice(first.length).trimStart();
  if (rest === '') return [line];
  const indent = ' '.repeat(Math.min(line.length - line.trimStart().length + 4, width / 2));
  return [first, ...wrapLine(rest, width - indent.length).map((piece) => indent + piece)];
}

/** Wraps a line into pieces of at most `columns`; leading spaces are kept on the first piece. */
export function wrapLine(line: string, columns: number): string[] {
  const pieces: string[] = [];
  let rest = line;
  while (rest.length * 2 > columns && columnsOf(rest) > columns) {
    const fitting = sliceColumns(rest, columns);
    const space = rest[fitting.length] === ' ' ? fitting.length : fitting.lastIndexOf(' ');
    const isIndentation = space <= rest.length - rest.trimStart().length;
    pieces.push(isIndentation ? fitting : rest.slice(0, space));
    rest = isIndentation ? rest.slice(fitting.length) : rest.slice(space + 1);
  }
  return rest === '' && pieces.length > 0 ? pieces : [...pieces, rest];
}
