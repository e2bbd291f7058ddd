import type { Certificates } from '../parts/certificates.ts';
import type { Group } from './scenario.ts';
import { startUpstream, type ScriptedUpstream } from './upstream.ts';
import { UPSTREAM_SIDES, type UpstreamSide, type Version } from './versions.ts';

/** A group with its name in both configurations and its upstreams. */
export interface PlacedGroup extends Group {
  /** `g0`, `g1` … with the version of the upstreams. */
  readonly id: string;
  readonly host: string;
  /** Version of HTTP that the upstreams use. */
  readonly upstreamVersion: Version;
  /** The certificates of the listener and the upstreams; missing without TLS. */
  readonly certificates: Certificates | undefined;
  readonly up: ScriptedUpstream;
  readonly other: ScriptedUpstream;
  /** Name of its listener in both configurations: groups with the same settings share one. */
  readonly listener: string;
}

/** Nothing listens on this port of 127.0.0.1 unless the machine offers tcpmux. */
export const REFUSED_PORT = 1;

/** Starts the upstreams of groups in each version of HTTP, without and with TLS, and assigns listeners. */
export async function placeGroups(groups: readonly Group[], certificates: Certificates): Promise<PlacedGroup[]> {
  const listeners = new Map<string, string>();
  async function place(group: Group, index: number, { upstream, tls }: UpstreamSide): Promise<PlacedGroup> {
    const key = JSON.stringify([upstream, tls, listenerPartsOf(group)]);
    const listener = listeners.get(key) ?? `l${listeners.size}`;
    listeners.set(key, listener);
    const own = tls ? certificates : undefined;
    const [up, other] = await Promise.all([startUpstream(upstream, own), startUpstream(upstream, own)]);
    return {
      ...group,
      id: `g${index}-v${upstream}${tls ? '-tls' : ''}`,
      host: `g${index}.test`,
      upstreamVersion: upstream,
      certificates: own,
      up,
      other,
      listener,
    };
  }
  return await Promise.all(UPSTREAM_SIDES.flatMap((side) => groups.map((group, index) => place(group, index, side))));
}

function listenerPartsOf({ ours = {}, envoy = {} }: Group): object {
  const { listener, routeOptions } = ours;
  const { manager, routeConfiguration, filters } = envoy;
  return { listener, routeOptions, manager, routeConfiguration, filters };
}

/** Replaces `$host`, `$up`, `$other`, `$refused` and `$empty` in a fragment. */
export function fillIn<T>({ id, host }: PlacedGroup, fragment: T): T {
  const text = JSON.stringify(fragment)
    .replaceAll('$host', host)
    .replaceAll(/\$(up|other|refused|empty)\b/g, (_all, name: string) => `${id}-${name}`);
  return JSON.parse(text) as T;
}

/** One group per listener, in the order of the listeners. */
export function listenersOf(groups: readonly PlacedGroup[]): ReadonlyMap<string, readonly PlacedGroup[]> {
  return Map.groupBy(groups, ({ listener }) => listener);
}
