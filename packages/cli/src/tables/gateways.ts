import { inflateSpec } from '@edge-gateway/core';
import { dig, entries, items, text } from '../resources/objects.ts';
import { statusCell } from '../resources/status.ts';
import { nameOf, type Columns } from './columns.ts';

const TYPES: readonly (readonly [member: string, type: string])[] = [
  ['httpGateway', 'HTTP'],
  ['tcpGateway', 'TCP'],
  ['hybridGateway', 'Hybrid'],
];

/** The columns of `get gateways`. */
export const GATEWAY: Columns = {
  Gateway: nameOf,
  Address: ({ spec }) => portOf(spec) && `${text(spec, 'bindAddress') || '::'}:${portOf(spec)}`,
  Type: ({ spec }) => TYPES.find(([member]) => dig(spec, member) !== undefined)?.[1] ?? '',
  SSL: ({ spec }) => portOf(spec) && (dig(spec, 'ssl') === true ? 'yes' : 'no'),
  Proxies: ({ spec }) => items(spec, 'proxyNames').map(String).join(', ') || (portOf(spec) && 'gateway-proxy'),
  'Virtual Services': ({ spec }) => selected(dig(spec, 'httpGateway')),
  Status: (object) => statusCell(object),
};

const portOf = (spec: unknown): string => text(spec, 'bindPort');

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

/** Returns the columns of gateways that hybrid gateways delegate to. */
export function matchableGateway(title: string): Columns {
  return {
    [title]: nameOf,
    Matcher: ({ spec }) => {
      const names = items(spec, 'matcher', 'sslConfig', 'sniDomains').map(String);
      const ranges = items(spec, 'matcher', 'sourcePrefixRanges').map(
        (range) => `${text(range, 'addressPrefix')}/${text(range, 'prefixLen')}`,
      );
      return [...names, ...ranges].join('\n');
    },
    Status: (object) => statusCell(object),
  };
}

/** The columns of `get proxies`: a row per listener. An aggregate listener counts no virtual hosts. */
export const PROXY: Columns = {
  'Proxy Name': nameOf,
  'Proxy Namespace': ({ metadata }) => metadata.namespace,
  'Created By': ({ metadata }) => text(metadata.labels, 'created_by'),
  Listeners: ({ spec }) => listenersOf(spec).map((one) => `${text(one, 'bindAddress')}:${text(one, 'bindPort')}`),
  'Virtual Hosts': ({ spec }) => String(listenersOf(spec).flatMap(virtualHosts).length),
  Status: (object) => statusCell(object),
};

/** The listeners of a Proxy, also of a compressed one; none of one that cannot be read. */
function listenersOf(spec: unknown): readonly unknown[] {
  const compressed = text(spec, 'compressedSpec');
  if (compressed === '') return items(spec, 'listeners');
  try {
    return items(inflateSpec(compressed), 'listeners');
  } catch {
    return [];
  }
}

function virtualHosts(listener: unknown): unknown[] {
  const inner = items(listener, 'hybridListener', 'matchedListeners');
  return [listener, ...inner].flatMap((one) => items(one, 'httpListener', 'virtualHosts'));
}
