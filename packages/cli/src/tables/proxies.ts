import { items, text, type StatusObject } from '../resources/objects.ts';
import { statusCell } from '../resources/status.ts';
import type { TableData } from '../output/table.ts';

function virtualHosts(listener: unknown): number {
  const inner = items(listener, 'hybridListener', 'matchedListeners');
  return [listener, ...inner].reduce<number>((sum, one) => sum + items(one, 'httpListener', 'virtualHosts').length, 0);
}

/** The table of `get proxies`. An aggregate listener counts no virtual hosts. */
export function proxyTable(objects: readonly StatusObject[]): TableData {
  const columns = ['Proxy Name', 'Proxy Namespace', 'Created By', 'Listeners', 'Virtual Hosts', 'Status'];
  const rows = objects.flatMap((object) => {
    const listeners = items(object.spec, 'listeners');
    const addresses = listeners.map((one) => `${text(one, 'bindAddress')}:${text(one, 'bindPort')}`);
    const count = listeners.reduce<number>((sum, one) => sum + virtualHosts(one), 0);
    const { name, namespace, labels } = object.metadata;
    const first = [name, namespace, text(labels, 'created_by'), addresses[0] ?? '', String(count), statusCell(object)];
    return [first, ...addresses.slice(1).map((address) => ['', '', '', address, '', ''])];
  });
  return { columns, rows };
}
