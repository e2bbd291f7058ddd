import {
  keyOf,
  type ControlPlaneState,
  type ResourceKey,
  type ResourceRef,
  type Snapshot,
  type VirtualHost,
} from '@edge-gateway/core';
import type { VirtualServiceSpec } from '@edge-gateway/core/schema';
import { actionText, matcherText } from './route-text.ts';

/** A virtual host as a listener of a proxy serves it. */
export interface ServedHost {
  readonly proxy: string;
  readonly listener: string;
  readonly host: VirtualHost;
}

/** A virtual service in the list. */
export interface VirtualServiceRow {
  readonly key: ResourceKey;
  readonly ref: ResourceRef;
  readonly domains: readonly string[];
  /** Empty if it is not served. */
  readonly served: readonly ServedHost[];
  /** Lower case, created when it is needed. */
  readonly text: () => string;
}

/** Returns every virtual service, served or not, sorted by namespace and name. */
export function virtualServiceRows(
  state: ControlPlaneState | undefined,
  ...snapshots: readonly Snapshot[]
): VirtualServiceRow[] {
  const served = new Map<ResourceKey, ServedHost[]>();
  for (const { proxy, listeners } of snapshots)
    for (const { name: listener, virtualHosts } of listeners)
      for (const host of virtualHosts) {
        const key = keyOf('VirtualService', host.virtualService);
        const hosts = served.get(key);
        if (hosts) hosts.push({ proxy, listener, host });
        else served.set(key, [{ proxy, listener, host }]);
      }
  const declared = [...(state?.resources.keys() ?? []), ...(state?.statuses.keys() ?? [])];
  const keys = new Set([...served.keys(), ...declared.filter((key) => key.startsWith('VirtualService/'))]);
  return [...keys].sort().map((key) => rowOf(key, served.get(key) ?? [], state));
}

function rowOf(key: ResourceKey, served: readonly ServedHost[], state?: ControlPlaneState): VirtualServiceRow {
  const [, namespace = '', name = ''] = key.split('/');
  const spec = state?.resources.get(key)?.spec as VirtualServiceSpec | undefined;
  const domains = served[0]?.host.domains ?? spec?.virtualHost?.domains ?? writtenDomains(state?.rejected.get(key));
  const text = (): string =>
    [namespace, name, ...domains, served[0] ? hostText(served[0].host) : ''].join(' ').toLowerCase();
  return { key, ref: { namespace, name }, domains, served, text };
}

/** Returns the domains in a rejected document. */
function writtenDomains(document: object | undefined): string[] {
  const { spec } = (document ?? {}) as { readonly spec?: { readonly virtualHost?: { readonly domains?: unknown } } };
  const domains = spec?.virtualHost?.domains;
  return Array.isArray(domains) ? domains.map(String) : [];
}

const texts = new WeakMap<VirtualHost, string>();

/** Returns the searchable text of the routes of a virtual host. Cached by object: unchanged hosts stay the same objects in the next snapshot. */
function hostText(host: VirtualHost): string {
  const known = texts.get(host);
  if (known !== undefined) return known;
  const text = host.routes.map(({ matchers, action }) => [...matchers.map(matcherText), actionText(action)]).join(' ');
  texts.set(host, text);
  return text;
}
