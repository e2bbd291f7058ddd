import { dig, entries, items, text, type StatusObject } from '../resources/objects.ts';
import { statusCell } from '../resources/status.ts';
import type { TableData } from '../output/table.ts';

const TYPES: readonly (readonly [member: string, type: string])[] = [
  ['httpGateway', 'HTTP'],
  ['tcpGateway', 'TCP'],
  ['hybridGateway', 'Hybrid'],
];

/** The table of `get gateways`: a row per gateway. */
export function gatewayTable(objects: readonly StatusObject[]): TableData {
  const rows = objects.map((object) => {
    const { spec, metadata } = object;
    const type = TYPES.find(([member]) => dig(spec, member) !== undefined)?.[1] ?? '';
    const port = text(spec, 'bindPort');
    const address = port && `${text(spec, 'bindAddress') || '::'}:${port}`;
    const ssl = port && (dig(spec, 'ssl') === true ? 'yes' : 'no');
    const proxies = items(spec, 'proxyNames').map(String).join(', ') || (port && 'gateway-proxy');
    return [metadata.name, address, type, ssl, proxies, selected(dig(spec, 'httpGateway')), statusCell(object)];
  });
  return { columns: ['Gateway', 'Address', 'Type', 'SSL', 'Proxies', 'Virtual Services', 'Status'], rows };
}

/** The table of gateways that hybrid gateways delegate to. */
export function matchableGatewayTable(objects: readonly StatusObject[], column: string): TableData {
  const rows = objects.map((object) => {
    const { spec, metadata } = object;
    const names = items(spec, 'matcher', 'sslConfig', 'sniDomains').map(String);
    const ranges = items(spec, 'matcher', 'sourcePrefixRanges').map(
      (range) => `${text(range, 'addressPrefix')}/${text(range, 'prefixLen')}`,
    );
    return [metadata.name, [...names, ...ranges].join('\n'), statusCell(object)];
  });
  return { columns: [column, 'Matcher', 'Status'], rows };
}

/** Which virtual services a gateway serves: by label, by name, or all. */
function selected(gateway: unknown): string {
  if (gateway === undefined) return '';
  const labels = entries(gateway, 'virtualServiceSelector').map(([key, value]) => `${key}=${String(value)}`);
  const expressions = items(gateway, 'virtualServiceExpressions', 'expressions').map((one) =>
    [text(one, 'key'), text(one, 'operator'), items(one, 'values').map(String).join(',')].filter(Boolean).join(' '),
  );
  const names = items(gateway, 'virtualServices').map((ref) => text(ref, 'name'));
  return [...expressions, ...labels, ...names].join('\n') || 'all';
}
