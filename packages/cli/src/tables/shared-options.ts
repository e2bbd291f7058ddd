import { entries, items, text, type StatusObject } from '../resources/objects.ts';
import { statusCell } from '../resources/status.ts';
import type { TableData } from '../output/table.ts';

/** Returns the table of options that virtual hosts or routes share: one option name per line. */
export function sharedOptionTable(objects: readonly StatusObject[], column: string): TableData {
  const rows = objects.map((object) => {
    const options = entries(object.spec, 'options').map(([name]) => name);
    const targets = items(object.spec, 'targetRefs').map((ref) => `${text(ref, 'kind')} ${text(ref, 'name')}`);
    return [object.metadata.name, options.join('\n'), targets.join('\n'), statusCell(object)];
  });
  return { columns: [column, 'Options', 'Targets', 'Status'], rows };
}

/** The table of `get settings`: the parts that are set, a line each. */
export function settingsTable(objects: readonly StatusObject[]): TableData {
  const rows = objects.map((object) => {
    const parts = entries(object.spec).map(([name]) => name);
    return [object.metadata.name, parts.join('\n'), statusCell(object)];
  });
  return { columns: ['Settings', 'Set', 'Status'], rows };
}
