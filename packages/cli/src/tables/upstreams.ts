import { dig, entries, isWritten, items, refAt, text, type StatusObject } from '../resources/objects.ts';
import { statusCell } from '../resources/status.ts';
import { nameOf, type Columns } from './columns.ts';
import { destinationText } from './destination.ts';
import { methodNames } from './method-names.ts';

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
    const functions = items(block, 'lambdaFunctions').map((one) => text(one, 'logicalName'));
    return [
      `region: ${text(block, 'region')}`,
      `secret: ${secret ? `${secret.namespace}.${secret.name}` : ''}`,
      ...functionLines(functions),
    ];
  },
};

const functionLines = (names: readonly string[]): string[] =>
  names.length > 0 ? ['functions:', ...names.map((name) => `- ${name}`)] : [];

function serviceLines(serviceSpec: unknown): string[] {
  if (dig(serviceSpec, 'rest')) {
    const functions = entries(serviceSpec, 'rest', 'transformations').map(([name]) => name);
    return ['REST service:', ...functionLines(functions.sort())];
  }
  const transcoder = dig(serviceSpec, 'grpcJsonTranscoder');
  if (transcoder) return ['gRPC service:', ...transcodedLines(transcoder)];
  if (!dig(serviceSpec, 'grpc')) return [];
  const services = items(serviceSpec, 'grpc', 'grpcServices').flatMap((service) => [
    `  ${text(service, 'serviceName')}`,
    ...items(service, 'functionNames').map((method) => `  - ${String(method)}`),
  ]);
  return ['gRPC service:', ...services];
}

/** The methods are those of the descriptors in the resource; a file or a ConfigMap is not read. */
function transcodedLines(transcoder: unknown): string[] {
  const descriptors = text(transcoder, 'protoDescriptorBin');
  const methods = descriptors ? methodNames(Buffer.from(descriptors, 'base64')) : new Map<string, string[]>();
  return items(transcoder, 'services')
    .map(String)
    .flatMap((service) => [`  ${service}`, ...(methods.get(service) ?? []).map((method) => `  - ${method}`)]);
}

const typeOf = ({ spec }: StatusObject) => TYPES.find(([name]) => dig(spec, name) !== undefined);

/** The columns of `get upstreams`: a row per line of details, an empty row after each upstream. */
export const UPSTREAM: Columns = {
  Upstream: nameOf,
  Type: (object) => typeOf(object)?.[1] ?? (isWritten(object) ? 'Unknown' : ''),
  Status: (object) => statusCell(object),
  Details: (object) => {
    const [member = ''] = typeOf(object) ?? [];
    const block = dig(object.spec, member);
    const details = DETAILS[member]?.(block, object.metadata.namespace) ?? [];
    const [first = '', ...rest] = [...details, ...serviceLines(dig(block, 'serviceSpec'))];
    return [first, ...rest, ''];
  },
};

const weightOf = (weighted: unknown): number => Number(text(weighted, 'weight') || 0);
const totalOf = ({ spec }: StatusObject): number =>
  items(spec, 'destinations').reduce<number>((sum, one) => sum + weightOf(one), 0);

/** The columns of `get upstreamgroups`: a row per line of details, destinations separated by an empty row. */
export const UPSTREAM_GROUP: Columns = {
  'Upstream Group': nameOf,
  Status: (object) => statusCell(object),
  'Total Weight': (object) => (isWritten(object) ? String(totalOf(object)) : ''),
  Details: (object) =>
    items(object.spec, 'destinations').flatMap((one, i) => [
      ...(i > 0 ? [''] : []),
      ...weightedLines(one, totalOf(object), object.metadata.namespace),
    ]),
};

function weightedLines(weighted: unknown, total: number, namespace: string): string[] {
  const weight = weightOf(weighted);
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
