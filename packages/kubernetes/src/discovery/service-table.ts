import { isDeepStrictEqual } from 'node:util';
import { freezeDeep, type ClusterService, type ClusterServicePort, type Endpoint } from '@edge-gateway/core';
import type { EndpointSlice, Service, ServicePort } from './cluster-objects.ts';
import { portEndpoints, type PodLabels } from './service-endpoints.ts';
import { discoveredPorts, portUpstream, type PortUpstream } from './service-upstream.ts';

/** Changed objects by `<namespace>/<name>`; `undefined` for removed ones. */
export type ObjectChanges<T> = Iterable<readonly [string, T | undefined]>;

/** The Services of a cluster with their endpoints. */
export interface ServiceTable {
  readonly services: ReadonlyMap<string, Service>;
  setServices(changes: ObjectChanges<Service>): void;
  setSlices(changes: ObjectChanges<EndpointSlice>): void;
  setPodLabels(changes: ObjectChanges<Readonly<Record<string, string>>>): void;
  /** Default annotations of all Services. */
  setDefaults(annotations: Service['annotations']): void;
  /** Returns what differs since the last call, by `<namespace>/<name>`. Equal parts are the same objects as before. */
  take(): Map<string, ClusterService | undefined>;
}

const NO_SLICES: ReadonlyMap<string, EndpointSlice> = new Map();

/** Creates a table without Services. A change costs what it touches. */
export function createServiceTable(): ServiceTable {
  const services = new Map<string, Service>();
  /** By Service, then by name. */
  const slices = new Map<string, Map<string, EndpointSlice>>();
  /** The Service of each slice. */
  const owners = new Map<string, string>();
  const podLabels = new Map<string, Readonly<Record<string, string>>>();
  /** The Services with an endpoint at each pod. */
  const users = new Map<string, Set<string>>();
  const made = new Map<string, ClusterService>();
  const dirty = new Set<string>();
  let defaults: Service['annotations'] | undefined;

  function setSlice(key: string, slice: EndpointSlice | undefined): void {
    const before = owners.get(key);
    const after = slice && `${slice.namespace}/${slice.service}`;
    if (before !== undefined && before !== after) {
      slices.get(before)?.delete(key);
      if (slices.get(before)?.size === 0) slices.delete(before);
      dirty.add(before);
    }
    if (slice === undefined || after === undefined) return void owners.delete(key);
    owners.set(key, after);
    const own = slices.get(after) ?? new Map<string, EndpointSlice>();
    slices.set(after, own.set(key, slice));
    dirty.add(after);
  }

  function build(key: string, service: Service): ClusterService {
    const before = made.get(key);
    const own = [...(slices.get(key) ?? NO_SLICES)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, slice]) => slice);
    for (const { endpoints } of own) for (const { target } of endpoints) if (target) noteUser(target, key);
    const ports = discoveredPorts(service).map((port) => {
      const old = before?.ports.find((each) => each.port === port.port);
      return portOf(service, port, { upstream: portUpstream(service, port, defaults), slices: own, podLabels, old });
    });
    const isSame = before && ports.length === before.ports.length && ports.every((port, i) => port === before.ports[i]);
    const now = { ref: { name: service.name, namespace: service.namespace }, selector: service.selector, ports };
    return isSame && isDeepStrictEqual(now, before) ? before : Object.freeze(now);
  }

  function noteUser(pod: string, key: string): void {
    const known = users.get(pod);
    if (known) known.add(key);
    else users.set(pod, new Set([key]));
  }

  return {
    services,
    setServices(changes) {
      for (const [key, service] of changes) {
        if (service) services.set(key, service);
        else services.delete(key);
        dirty.add(key);
      }
    },
    setSlices(changes) {
      for (const [key, slice] of changes) setSlice(key, slice);
    },
    setPodLabels(changes) {
      for (const [key, labels] of changes) {
        const pod = `Pod/${key}`;
        if (labels && isDeepStrictEqual(labels, podLabels.get(pod))) continue;
        if (labels) podLabels.set(pod, labels);
        else podLabels.delete(pod);
        for (const user of users.get(pod) ?? []) dirty.add(user);
        if (!labels) users.delete(pod);
      }
    },
    setDefaults(annotations) {
      if (isDeepStrictEqual(defaults ?? {}, annotations)) return;
      defaults = annotations;
      for (const key of services.keys()) dirty.add(key);
    },
    take() {
      const changes = new Map<string, ClusterService | undefined>();
      for (const key of dirty) {
        const service = services.get(key);
        const before = made.get(key);
        const now = service && build(key, service);
        if (now === before) continue;
        if (now) made.set(key, now);
        else made.delete(key);
        changes.set(key, now);
      }
      dirty.clear();
      return changes;
    },
  };
}

interface PortParts {
  readonly upstream: PortUpstream;
  readonly slices: readonly EndpointSlice[];
  readonly podLabels: PodLabels;
  readonly old: ClusterServicePort | undefined;
}

/** Returns the port; the old one, or its parts, if they are equal. */
function portOf(service: Service, port: ServicePort, { upstream, old, ...context }: PortParts): ClusterServicePort {
  const endpoints = sameEndpoints(portEndpoints(service, port, context), old?.endpoints);
  const isSame = old && 'spec' in upstream && isDeepStrictEqual(upstream.spec, old.upstream);
  const made = 'fault' in upstream ? upstream : { upstream: isSame ? old.upstream! : freezeDeep(upstream.spec) };
  const now: ClusterServicePort = { port: port.port, ...made, endpoints };
  return old && isDeepStrictEqual(now, old) ? old : Object.freeze(now);
}

function sameEndpoints(now: readonly Endpoint[], before: readonly Endpoint[] | undefined): readonly Endpoint[] {
  return before && isDeepStrictEqual(now, before) ? before : freezeDeep(now);
}
