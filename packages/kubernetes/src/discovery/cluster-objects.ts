import type { ClusterObject } from '../watch/cluster-object.ts';

/** What discovery reads of a Service. */
export interface Service {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Those of the gateway only. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly ServicePort[];
  /** The DNS name of a Service of type `ExternalName`. */
  readonly externalName?: string;
  /** The preferred family first. */
  readonly ipFamilies: readonly string[];
  /** Where clients reach it: from its load balancer, else its external addresses, else inside of the cluster. */
  readonly addresses: readonly string[];
}

export interface ServicePort {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  readonly appProtocol: string;
}

/** What discovery reads of an EndpointSlice. */
export interface EndpointSlice {
  readonly name: string;
  readonly namespace: string;
  /** Name of its Service. */
  readonly service: string;
  readonly addressType: string;
  readonly ports: readonly { readonly name: string; readonly port: number | undefined; readonly protocol: string }[];
  readonly endpoints: readonly SliceEndpoint[];
}

export interface SliceEndpoint {
  readonly addresses: readonly string[];
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly zone?: string;
  /** `Kind/namespace/name` of the object with the addresses. */
  readonly target?: string;
}

/** Annotations that the gateway reads begin with it. */
export const ANNOTATION_PREFIX = 'gw.vendor.io/';
const SERVICE_LABEL = 'kubernetes.io/service-name';
const TCP = 'TCP';

/** Returns what discovery reads of a Service. The API server has validated it, but other servers may not. */
export function readService({ metadata, spec, status }: ClusterObject): Service {
  const { type, externalName, ...written } = recordOf(spec);
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    labels: textsOf(metadata.labels),
    annotations: textsOf(metadata.annotations, (name) => name.startsWith(ANNOTATION_PREFIX)),
    selector: textsOf(written['selector']),
    ports: listOf(written['ports']).flatMap(readPort),
    ...(type === 'ExternalName' && { externalName: textOf(externalName) }),
    ipFamilies: listOf(written['ipFamilies']).map(textOf),
    addresses: addressesOf(written, recordOf(status)),
  };
}

function addressesOf(
  spec: Readonly<Record<string, unknown>>,
  status: Readonly<Record<string, unknown>>,
): readonly string[] {
  const balancers = listOf(recordOf(status['loadBalancer'])['ingress']).map(recordOf);
  const choices = [
    balancers.map(({ ip, hostname }) => textOf(ip) || textOf(hostname)),
    listOf(spec['externalIPs']).map(textOf),
    listOf(spec['clusterIPs'] ?? [spec['clusterIP']])
      .map(textOf)
      .filter((address) => address !== 'None'),
  ];
  return choices.map((addresses) => addresses.filter(Boolean)).find((addresses) => addresses.length > 0) ?? [];
}

function readPort(written: unknown): ServicePort | [] {
  const { name, port, protocol, appProtocol } = recordOf(written);
  if (!isPort(port)) return [];
  return { name: textOf(name), port, protocol: textOf(protocol) || TCP, appProtocol: textOf(appProtocol) };
}

/** Returns what discovery reads of an EndpointSlice; `undefined` if it belongs to no Service. */
export function readEndpointSlice({ metadata, ...body }: ClusterObject): EndpointSlice | undefined {
  const service = metadata.labels?.[SERVICE_LABEL];
  if (!service) return undefined;
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    service,
    addressType: textOf(body['addressType']),
    ports: listOf(body['ports']).map((written) => {
      const { name, port, protocol } = recordOf(written);
      return { name: textOf(name), port: isPort(port) ? port : undefined, protocol: textOf(protocol) || TCP };
    }),
    endpoints: listOf(body['endpoints']).map(readEndpoint),
  };
}

function readEndpoint(written: unknown): SliceEndpoint {
  const { addresses, conditions, zone, targetRef } = recordOf(written);
  const { ready, serving, terminating } = recordOf(conditions);
  const target = recordOf(targetRef);
  return {
    addresses: listOf(addresses).map(textOf).filter(Boolean),
    // A condition that is missing is unknown, which consumers read as ready.
    ready: ready !== false,
    serving: typeof serving === 'boolean' ? serving : ready !== false,
    terminating: terminating === true,
    ...(textOf(zone) && { zone: textOf(zone) }),
    ...(target['name'] !== undefined && {
      target: `${textOf(target['kind'])}/${textOf(target['namespace'])}/${textOf(target['name'])}`,
    }),
  };
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 65535;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const always = (): boolean => true;

function textsOf(value: unknown, isRead: (name: string) => boolean = always): Readonly<Record<string, string>> {
  const entries = Object.entries(recordOf(value));
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string' && isRead(entry[0])),
  );
}
