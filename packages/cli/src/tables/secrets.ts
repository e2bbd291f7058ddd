import { entries, text, type StatusObject } from '../resources/objects.ts';
import { statusCell } from '../resources/status.ts';
import type { TableData } from '../output/table.ts';

/** The names of the values of a Secret or ConfigMap. */
function keysOf(object: StatusObject): string {
  const names = ['data', 'stringData', 'binaryData'].flatMap((member) => entries(object, member).map(([key]) => key));
  return [...new Set(names)].join('\n');
}

/** The status of a Secret or ConfigMap; in a cluster these kinds have no status. */
function ownStatus(object: StatusObject): string {
  return object.status === undefined ? '' : statusCell(object);
}

/** The table of `get secrets`: types and the names of the values, never a value. */
export function secretTable(objects: readonly StatusObject[]): TableData {
  const rows = objects.map((object) => [object.metadata.name, text(object, 'type'), keysOf(object), ownStatus(object)]);
  return { columns: ['Secret', 'Type', 'Keys', 'Status'], rows };
}

/** The table of `get configmaps`. */
export function configMapTable(objects: readonly StatusObject[]): TableData {
  const rows = objects.map((object) => [object.metadata.name, keysOf(object), ownStatus(object)]);
  return { columns: ['Config Map', 'Keys', 'Status'], rows };
}
