import type { EndpointSlice, Service, SliceEndpoint } from '../../src/discovery/cluster-objects.ts';
import { readEndpointSlice, readService } from '../../src/discovery/cluster-objects.ts';
import { readUpstream, type ExistingUpstream, type UpstreamDraft } from '../../src/discovery/upstream-plan.ts';
import { FIELD_MANAGER } from '../../src/discovery/upstream-plan.ts';

interface WrittenService {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
}

/** A Service with one TCP port 80, unless its spec says otherwise. */
export function serviceObject(key: string, { labels, annotations, spec }: WrittenService = {}) {
  const [namespace, name] = key.split('/') as [string, string];
  const ports = [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }];
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: { type: 'ClusterIP', selector: { app: name }, ports, ...spec },
  };
}

export const service = (key: string, written?: WrittenService): Service => readService(serviceObject(key, written));

interface WrittenSlice {
  readonly type?: string;
  readonly ports?: readonly object[];
  readonly endpoints: readonly object[];
}

/** An EndpointSlice of a Service with a port `http`. */
export function sliceObject(key: string, of: string, { type = 'IPv4', ports, endpoints }: WrittenSlice) {
  const [namespace, name] = key.split('/') as [string, string];
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace, labels: { 'kubernetes.io/service-name': of } },
    addressType: type,
    ports: ports ?? [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints,
  };
}

export const slice = (key: string, of: string, written: WrittenSlice): EndpointSlice =>
  readEndpointSlice(sliceObject(key, of, written))!;

export type { SliceEndpoint };

/** An upstream as the API server has it after a draft was applied, and others wrote what `others` contains. */
export function applied(draft: UpstreamDraft, others: Readonly<Record<string, unknown>> = {}): ExistingUpstream {
  const { metadata, spec } = draft;
  const own = {
    'f:metadata': fieldsOf({ labels: metadata.labels, annotations: metadata.annotations }),
    'f:spec': fieldsOf(spec),
  };
  return readUpstream({
    metadata: {
      ...metadata,
      uid: `uid-${metadata.name}`,
      resourceVersion: '7',
      managedFields: [
        { manager: FIELD_MANAGER, operation: 'Apply', fieldsV1: own },
        { manager: 'kubectl-edit', operation: 'Update', fieldsV1: { 'f:spec': fieldsOf(others) } },
        { manager: 'gw', operation: 'Apply', subresource: 'status', fieldsV1: { 'f:status': {} } },
      ],
    },
    spec: merged(spec, others),
  });
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fieldsOf(value: Json): Json {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, child]) => child !== undefined)
      .map(([key, child]) => [`f:${key}`, isObject(child) && Object.keys(child).length > 0 ? fieldsOf(child) : {}]),
  );
}

function merged(base: Json, changes: Json): Json {
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(changes)) {
    const before = result[key];
    result[key] = isObject(before) && isObject(value) ? merged(before, value) : value;
  }
  return result;
}
