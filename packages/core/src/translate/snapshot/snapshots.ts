import type { Listener, Snapshot, SnapshotSettings, SnapshotUpstream } from '../../contract/snapshot.ts';
import { digestOf, digestText } from './content.ts';
import type { ListenerBuild } from '../listener/listeners.ts';
import { sameList } from '../tls/listener-tls.ts';

/** Parts shared by all proxies. */
export interface SharedParts {
  readonly served: readonly SnapshotUpstream[];
  readonly settings: SnapshotSettings;
}

/** Returns the snapshot of one proxy; the previous one if it has the same parts. */
export function snapshotOf(
  proxy: string,
  builds: readonly ListenerBuild[],
  { served: upstreams, settings: written }: SharedParts,
  before: Snapshot | undefined,
): Snapshot {
  const listeners = sameList(listenersOf(builds), before?.listeners);
  const settings = before && digestOf(written) === digestOf(before.settings) ? before.settings : written;
  const isSame = before?.listeners === listeners && before.upstreams === upstreams && before.settings === settings;
  if (isSame) return before;
  const version = digestText(
    [proxy, ...listeners.map(listenerDigest), '', ...upstreams.map(digestOf), digestOf(settings)].join(' '),
  );
  return Object.freeze({ proxy, version, listeners, upstreams, settings });
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

const digests = new WeakMap<Listener, string>();

function listenerDigest(listener: Listener): string {
  const known = digests.get(listener);
  if (known !== undefined) return known;
  const { virtualHosts, ...head } = listener;
  const digest = digestText([digestOf(head), ...virtualHosts.map(digestOf)].join(' '));
  digests.set(listener, digest);
  return digest;
}
