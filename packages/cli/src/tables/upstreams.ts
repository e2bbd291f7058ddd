import { dig, isWritten, items, refAt, text, type StatusObject } from '../resources/objects.ts';
import { statusCell } from '../resources/status.ts';
import type { TableData } from '../output/table.ts';
import { destinationText } from './destination.ts';

const TYPES: readonly (readonly [member: string, type: string])[] = [
  ['aws', 'AWS Lambda'],
  ['azure', 'Azure'],
  ['consul', 'Consul'],
  ['awsEc2', 'AWS EC2'],
  ['kube', 'Kubernetes'],
  ['static', 'Static'],
  ['gcp', 'GCP'],
];

const DETAILS: Readonly<Record<string, (block: unknown, namespace: string) => string[]>> = {
  kube: (block) => [
    `svc name:      ${text(block, 'serviceName')}`,
    `svc namespace: ${text(block, 'serviceNamespace')}`,
    `port:          ${text(block, 'servicePort')}`,
  ],
  consul: (block) => [
    `svc name: ${text(block, 'serviceName')}`,
    `svc tags: [${items(block, 'serviceTags').map(String).join(' ')}]`,
  ],
  static: (block) => [
    'hosts:',
    ...items(block, 'hosts').map((host) => `- ${text(host, 'addr')}:${text(host, 'port')}`),
  ],
  aws: (block, namespace) => {
    const secret = refAt(block, namespace, 'secretRef');
    const functions = items(block, 'lambdaFunctions').map((one) => `- ${text(one, 'logicalName')}`);
    return [
      `region: ${text(block, 'region')}`,
      `secret: ${secret ? `${secret.namespace}.${secret.name}` : ''}`,
      ...list('functions:', functions),
    ];
  },
};

const list = (title: string, lines: readonly string[]): string[] => (lines.length > 0 ? [title, ...lines] : []);

function serviceLines(serviceSpec: unknown): string[] {
  const functions = Object.keys((dig(serviceSpec, 'rest', 'transformations') as object | undefined) ?? {});
  if (dig(serviceSpec, 'rest')) {
    return [
      'REST service:',
      ...list(
        'functions:',
        functions.sort().map((name) => `- ${name}`),
      ),
    ];
  }
  if (!dig(serviceSpec, 'grpc')) return [];
  const services = items(serviceSpec, 'grpc', 'grpcServices').flatMap((service) => [
    `  ${text(service, 'serviceName')}`,
    ...items(service, 'functionNames').map((method) => `  - ${String(method)}`),
  ]);
  return ['gRPC service:', ...services];
}

/** The table of `get upstreams`: a row per line of details, an empty row after each upstream. */
export function upstreamTable(objects: readonly StatusObject[]): TableData {
  const rows = objects.flatMap((object) => {
    const { spec, metadata } = object;
    const [member, type] = TYPES.find(([name]) => dig(spec, name) !== undefined) ?? [
      '',
      isWritten(object) ? 'Unknown' : '',
    ];
    const block = dig(spec, member);
    const details = [
      ...(DETAILS[member]?.(block, metadata.namespace) ?? []),
      ...serviceLines(dig(block, 'serviceSpec')),
    ];
    const first = [metadata.name, type, statusCell(object), details[0] ?? ''];
    return [first, ...[...details.slice(1), ''].map((line) => ['', '', '', line])];
  });
  return { columns: ['Upstream', 'Type', 'Status', 'Details'], rows };
}

/** The table of `get upstreamgroups`: destinations separated by an empty row, groups by `---`. */
export function upstreamGroupTable(objects: readonly StatusObject[]): TableData {
  const rows = objects.flatMap((object, index) => {
    const destinations = items(object.spec, 'destinations');
    const total = destinations.reduce<number>((sum, one) => sum + Number(text(one, 'weight') || 0), 0);
    const details = destinations.flatMap((one, i) => [
      ...(i > 0 ? [''] : []),
      ...weightedLines(one, total, object.metadata.namespace),
    ]);
    const first = [object.metadata.name, statusCell(object), isWritten(object) ? String(total) : '', details[0] ?? ''];
    const between = index < objects.length - 1 ? [['---', '---', '---', '---']] : [];
    return [first, ...details.slice(1).map((line) => ['', '', '', line]), ...between];
  });
  return { columns: ['Upstream Group', 'Status', 'Total Weight', 'Details'], rows };
}

function weightedLines(weighted: unknown, total: number, namespace: string): string[] {
  const weight = Number(text(weighted, 'weight') || 0);
  const destination = dig(weighted, 'destination');
  const ref = refAt(destination, namespace, 'upstream') ?? refAt(destination, namespace, 'kube', 'ref');
  const type = dig(destination, 'upstream') ? 'Upstream' : dig(destination, 'kube') ? 'Kube' : 'Unknown';
  return [
    `destination type: ${type}`,
    `namespace: ${ref?.namespace ?? ''}`,
    `name: ${ref?.name ?? destinationText(destination, namespace)}`,
    `weight: ${weight}   % total: ${(total > 0 ? weight / total : 0).toFixed(2)}`,
  ];
}
