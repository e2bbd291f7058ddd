import type { Listener, Route, SnapshotUpstream, VirtualHost } from '../../contract/snapshot.ts';
import { clusterName } from '../../resource/resource.ts';
import type { ListenerBuild } from '../listener/listeners.ts';
import { sameList } from '../lists.ts';
import type { Memo } from '../memo.ts';
import type { TranslationInput } from '../input.ts';
import { SERVICE_PREFIX } from './kube-upstreams.ts';

/** Returns the upstreams that can be served, sorted by name; those of Services only if a listener refers to them. */
export function servedUpstreams(
  { upstreams, serviceUpstreams }: TranslationInput,
  listeners: Iterable<ListenerBuild>,
  memo: Memo | undefined,
): readonly SnapshotUpstream[] {
  const referenced = serviceUpstreams.size > 0 ? referencedServices(listeners) : NONE;
  if (memo?.upstreams === upstreams && referenced.size === 0 && !memo.serviceUpstreams.size) return memo.served;
  const served = [...upstreams.values()].flatMap(({ upstream }) => upstream ?? []);
  if (referenced.size > 0) {
    for (const { upstream } of serviceUpstreams.values())
      if (upstream && referenced.has(upstream.name)) served.push(upstream);
  }
  return sameList(
    served.sort((a, b) => (a.name < b.name ? -1 : 1)),
    memo?.served,
  );
}

const NONE: ReadonlySet<string> = new Set();

/** Returns the cluster names of upstreams of Services that listeners refer to. */
function referencedServices(builds: Iterable<ListenerBuild>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { listener } of builds) if (listener) addReferences(listener, found);
  return found;
}

function addReferences({ virtualHosts, parts = [] }: Listener, found: Set<string>): void {
  for (const host of virtualHosts) for (const name of servicesOf(host)) found.add(name);
  for (const { http, tcp } of parts) {
    if (http) addReferences(http, found);
    for (const { upstream } of tcp?.destinations ?? []) if (upstream.startsWith(SERVICE_PREFIX)) found.add(upstream);
  }
}

/** By virtual host, which is the same object until it changes. */
const known = new WeakMap<VirtualHost, readonly string[]>();

function servicesOf(host: VirtualHost): readonly string[] {
  let names = known.get(host);
  if (!names) {
    names = host.routes.flatMap(clustersOf).filter((name) => name.startsWith(SERVICE_PREFIX));
    known.set(host, names);
  }
  return names;
}

/** Returns the clusters of a route: its destinations, and the upstream of its copies. */
function clustersOf({ action, options }: Route): readonly string[] {
  const destinations = action.type === 'forward' ? action.destinations.map(({ upstream }) => upstream) : [];
  const { name = '', namespace = '' } = options.shadowing?.upstream ?? {};
  return name ? [...destinations, clusterName({ name, namespace })] : destinations;
}
