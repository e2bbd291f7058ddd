import type { TableData } from '../output/table.ts';
import { entries, type StatusObject } from '../resources/objects.ts';

/** The content of one column for a resource: its text, or one text for each row of the resource. */
type Cell = (object: StatusObject, all: readonly StatusObject[]) => string | readonly string[];

/** The columns of a table by their titles. */
export type Columns = Readonly<Record<string, Cell>>;

/** Returns the table of resources, a row per line of their cells. `all` are the resources of every kind, of which a column may need others. */
export function tableOf(
  columns: Columns,
  objects: readonly StatusObject[],
  all: readonly StatusObject[] = [],
): TableData {
  const rows = objects.flatMap((object) => {
    const cells = Object.values(columns).map((cell) => [cell(object, all)].flat().flatMap((one) => one.split('\n')));
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, row) => cells.map((cell) => cell[row] ?? ''));
  });
  return { columns: Object.keys(columns), rows };
}

export const nameOf = ({ metadata }: StatusObject): string => metadata.name;

/** The keys of the object at a path, a line each. */
export function keyLines(value: unknown, ...path: readonly string[]): string {
  return entries(value, ...path)
    .map(([key]) => key)
    .join('\n');
}
