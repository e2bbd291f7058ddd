import {
  gatewayNamespace,
  formatIssue,
  keyOf,
  redact,
  redactAll,
  type ControlPlaneState,
  type Kind,
  type Problem,
  type Snapshot,
} from '@edge-gateway/core';
import { compactJson } from '../http/endpoint-response.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { lazily } from '../http/json-chunks.ts';
import { kubernetesObject, listObjects, showObject, type KubernetesObject } from './kubernetes-object.ts';

/** One page: its path, its help text, its data, and what is missing from the data. */
type Page = readonly [
  path: string,
  help: string,
  read: (state: ControlPlaneState) => unknown,
  errorsOf?: (state: ControlPlaneState) => readonly string[],
];

const PAGES: readonly Page[] = [
  ['/snapshots/edge', 'the resources in use, by kind', edgeSnapshot],
  ['/snapshots/input', 'all resources with their status', inputSnapshot, unfiledProblems],
  ['/snapshots/proxies', 'the proxies', proxySnapshot],
  ['/snapshots/xds', 'the snapshot of each data plane', xdsSnapshots],
];

/** Returns the pages below `/snapshots`: `{status, data, error?}`, where `error` says what is missing from `data`. */
export function snapshotEndpoints(currentState: () => ControlPlaneState | undefined): Endpoint[] {
  return PAGES.map(([path, help, read, errorsOf = () => []]) => ({
    paths: [path],
    help,
    respond: () => {
      const state = currentState();
      const errors = state ? errorsOf(state) : ['the resources have not been read yet'];
      const [status, error] = errors.length > 0 ? ['error', { error: errors.join('; ') }] : ['ok', {}];
      return compactJson({ status, data: state ? read(state) : null, ...error });
    },
  }));
}

/** Returns the resources in use, last good versions included, by kind. Secrets have their metadata only, ConfigMaps no values. */
export function edgeSnapshot(state: ControlPlaneState): Record<string, Iterable<KubernetesObject>> {
  const inUse = listObjects(state).filter(({ resource }) => resource);
  const byKind = [...Map.groupBy(inUse, ({ kind }) => kind)].sort(([a], [b]) => (a < b ? -1 : 1));
  const show = (each: (typeof inUse)[number]): KubernetesObject =>
    withoutValues(showObject(each, state.statuses.get(each.key)));
  return Object.fromEntries(byKind.map(([kind, objects]) => [kind, lazily(objects, show)]));
}

function withoutValues(object: KubernetesObject): KubernetesObject {
  const { apiVersion, kind, metadata } = object;
  if (kind === 'Secret') return { apiVersion, kind, metadata };
  if (kind !== 'ConfigMap') return object;
  return { apiVersion, kind, metadata, data: redactAll(object['data'] ?? {}) };
}

function inputSnapshot(state: ControlPlaneState): Iterable<KubernetesObject> {
  return lazily(listObjects(state), (each) => showObject(each, state.statuses.get(each.key)));
}

/** Returns the problems that no status shows: those of documents without kind or name. */
function unfiledProblems({ issues, statuses, resources }: ControlPlaneState): string[] {
  const isFiled = ({ kind, namespace, name }: Problem): boolean => {
    if (!kind || !name) return false;
    const key = keyOf(kind as Kind, { name, namespace: namespace ?? '' });
    return statuses.has(key) || resources.has(key);
  };
  return issues.filter((issue) => issue.severity === 'error' && !isFiled(issue)).map(formatIssue);
}

function proxySnapshot({ proxies, statuses }: ControlPlaneState): KubernetesObject[] {
  return proxies.map((proxy) => kubernetesObject(proxy, statuses.get(keyOf('Proxy', proxy.metadata))));
}

/** Returns the key of a proxy's snapshot: `gw-system~<proxy>`. */
export function nodeKey(proxy: string): string {
  return `${gatewayNamespace()}~${proxy}`;
}

/** Returns the snapshot of each data plane by node key, with credentials redacted. */
export function xdsSnapshots({ snapshots }: ControlPlaneState): Record<string, object> {
  return Object.fromEntries([...snapshots].map(([proxy, snapshot]) => [nodeKey(proxy), redacted(snapshot)]));
}

function redacted({ listeners, upstreams, ...rest }: Snapshot): object {
  const shownListeners = lazily(listeners, ({ virtualHosts, ...listener }) => ({
    ...(redact(listener) as object),
    virtualHosts: lazily(virtualHosts, redact),
  }));
  return { ...(redact(rest) as object), listeners: shownListeners, upstreams: lazily(upstreams, redact) };
}
