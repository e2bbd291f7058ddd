import { byProxy } from '../listener/build-listeners.ts';
import type { UsedGateway } from '../listener/gateways.ts';
import type {
  Listener,
  ListenerPart,
  Snapshot,
  SnapshotSettings,
  SnapshotUpstream,
  VirtualHost,
} from '../../contract/snapshot.ts';
import type { Derived } from '../derived.ts';
import { digestOf, digestText } from './content.ts';
import type { ListenerBuild } from '../listener/listeners.ts';
import { sameList } from '../lists.ts';
import { difference } from '../../ranges.ts';

/** Parts shared by all proxies. */
export interface SharedParts {
  readonly served: readonly SnapshotUpstream[];
  readonly settings: SnapshotSettings;
  /** Proxies without gateways keep their snapshots. */
  readonly keepsProxies: boolean;
  readonly derived: Derived;
}

/** Returns the snapshot of each proxy, those of `before` where nothing changed. */
export function snapshotsOf(
  gateways: readonly UsedGateway[],
  listeners: ReadonlyMap<string, ListenerBuild>,
  parts: SharedParts,
  before: ReadonlyMap<string, Snapshot> | undefined,
): ReadonlyMap<string, Snapshot> {
  const builds = [...listeners.values()];
  const snapshots = Array.from(byProxy(gateways).keys(), (proxy) => {
    const own = builds.filter((build) => build.proxy === proxy && !build.isPart);
    return [proxy, snapshotOf(proxy, own, parts, before?.get(proxy))] as const;
  });
  // Later entries replace those that are kept.
  return new Map([...(parts.keepsProxies ? (before ?? []) : []), ...snapshots]);
}

/** Returns the snapshot of one proxy; the previous one if it has the same parts. */
function snapshotOf(
  proxy: string,
  builds: readonly ListenerBuild[],
  { served: upstreams, settings: written, derived }: SharedParts,
  before: Snapshot | undefined,
): Snapshot {
  const listeners = sameList(listenersOf(builds), before?.listeners);
  const settings =
    before && digestOf(written, derived) === digestOf(before.settings, derived) ? before.settings : written;
  const isSame = before?.listeners === listeners && before.upstreams === upstreams && before.settings === settings;
  if (isSame) return before;
  return withVersion({ proxy, listeners, upstreams, settings }, derived, before?.listeners);
}

/**
 * Adds the version, which is computed when it is read: in a large configuration this takes a tenth of a start, and the data plane of this process does not
 * need it. The previous listeners only save work: they are not kept in memory for that.
 */
function withVersion(
  { proxy, listeners, upstreams, settings }: Omit<Snapshot, 'version'>,
  derived: Derived,
  before: readonly Listener[] | undefined,
): Snapshot {
  const previous = before && new WeakRef(before);
  let version: string | undefined;
  return Object.freeze({
    proxy,
    get version() {
      if (version !== undefined) return version;
      const digests = listeners.map((listener) => digestOfListener(listener, derived, previous?.deref()));
      const others = [...upstreams, settings].map((part) => digestOf(part, derived));
      return (version = digestText([proxy, ...digests, '', ...others].join(' ')));
    },
    listeners,
    upstreams,
    settings,
  });
}

const digests = new WeakMap<Listener, string>();

function digestOfListener(listener: Listener, derived: Derived, before: readonly Listener[] | undefined): string {
  const known = digests.get(listener);
  if (known !== undefined) return known;
  const previous = before?.find(({ name }) => name === listener.name);
  const digest = listenerDigest(listener, derived, previous);
  digests.set(listener, digest);
  return digest;
}

/** Sorted by name. A last good listener is dropped if a new one has its port now. */
function listenersOf(builds: readonly ListenerBuild[]): readonly Listener[] {
  const ports = new Set(builds.flatMap(({ listener, frozen }) => (listener && !frozen ? [listener.bindPort] : [])));
  return builds
    .flatMap(({ listener, frozen }) => {
      if (!listener || (frozen && listener.bindPort !== 0 && ports.has(listener.bindPort))) return [];
      return [listener];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function listenerDigest(listener: Listener, derived: Derived, previous: Listener | undefined): string {
  const { virtualHosts, parts, ...head } = listener;
  const own = `${digestOf(head, derived)} ${hostsDigest(virtualHosts, derived, previous?.virtualHosts)}`;
  const digests = parts?.map((part) => partDigest(part, derived, previous?.parts));
  return digestText(digests ? `${own} ${digests.join(' ')}` : own);
}

function partDigest({ http, ...part }: ListenerPart, derived: Derived, before: Listener['parts']): string {
  const previous = before?.find(({ name }) => name === part.name)?.http;
  return `${digestOf(part, derived)} ${http ? listenerDigest(http, derived, previous) : ''}`;
}

/** Sums of digests by list, so that a later list costs what differs. */
const sums = new WeakMap<readonly VirtualHost[], bigint>();

/** Returns a digest of virtual hosts, which are sorted. It depends on their content only, not on `previous`. */
function hostsDigest(
  hosts: readonly VirtualHost[],
  derived: Derived,
  previous: readonly VirtualHost[] | undefined,
): string {
  const valueOf = (host: VirtualHost): bigint => BigInt(`0x${digestOf(host, derived)}`);
  const known = previous && sums.get(previous);
  const { added, removed } = difference(hosts, known === undefined ? [] : previous!);
  let sum = known ?? 0n;
  for (const host of removed) sum -= valueOf(host);
  for (const host of added) sum += valueOf(host);
  sums.set(hosts, sum);
  return sum.toString(16);
}
