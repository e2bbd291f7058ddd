import type { Listener, Route, Snapshot, VirtualHost } from '../../contract/snapshot.ts';
import { contentText } from './content.ts';
import { pairRoutes } from './route-pairs.ts';

/** A field that differs; `undefined` on the side without it. */
export interface FieldDiff {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A part of a snapshot that was added, removed or changed. */
export interface PartDiff {
  readonly change: 'added' | 'removed' | 'changed';
  /** Listener, `<listener>/<virtual host>`, `<listener>/<route>`, or upstream. */
  readonly name: string;
  /** Empty unless changed. */
  readonly fields: readonly FieldDiff[];
}

/** The differences between two snapshots of one proxy; each list sorted by name, empty if nothing differs. */
export interface SnapshotDiff {
  readonly listeners: readonly PartDiff[];
  readonly virtualHosts: readonly PartDiff[];
  /** Of virtual hosts on both sides, by new names. A moved route has a field `position`: its index among the routes of both sides. */
  readonly routes: readonly PartDiff[];
  readonly upstreams: readonly PartDiff[];
}

interface Named {
  readonly name: string;
}

/**
 * Returns the differences between two snapshots; a missing one has no parts.
 *
 * @example
 * for (const { change, name } of diffSnapshots(served, planned).virtualHosts) console.log(change, name);
 */
export function diffSnapshots(before: Snapshot | undefined, after: Snapshot | undefined): SnapshotDiff {
  const [was, is] = [before?.listeners ?? [], after?.listeners ?? []];
  const listeners = pairs(was, is);
  const hosts = listeners.flatMap(([listener, old, now]) => inside(listener, hostsOf(old), hostsOf(now)));
  return {
    listeners: diffs(listeners, ['name', 'virtualHosts']),
    virtualHosts: diffs(hosts, ['name', 'routes']),
    routes: diffs(hosts.flatMap(routePairs), ['name', 'logName']),
    upstreams: diffs(pairs(before?.upstreams ?? [], after?.upstreams ?? []), ['name']),
  };
}

/** Returns true if nothing differs. */
export function isSame({ listeners, virtualHosts, routes, upstreams }: SnapshotDiff): boolean {
  return [listeners, virtualHosts, routes, upstreams].every((parts) => parts.length === 0);
}

type Pair<T> = readonly [name: string, before: T | undefined, after: T | undefined];

function hostsOf(listener: Listener | undefined): readonly VirtualHost[] {
  return listener?.virtualHosts ?? [];
}

function routePairs([name, before, after]: Pair<VirtualHost>): Pair<Route>[] {
  if (!before || !after || before.routes === after.routes) return [];
  const listener = name.slice(0, name.length - after.name.length - 1);
  return pairRoutes(before, after)
    .map(([old, now]): Pair<Route> => [`${listener}/${(now ?? old)!.name}`, old, now])
    .sort(([one], [other]) => (one < other ? -1 : Number(one > other)));
}

function inside<T extends Named>(outer: string, before: readonly T[], after: readonly T[]): Pair<T>[] {
  return pairs(before, after).map(([name, old, now]) => [`${outer}/${name}`, old, now]);
}

function pairs<T extends Named>(before: readonly T[], after: readonly T[]): Pair<T>[] {
  const old = new Map(before.map((part) => [part.name, part]));
  const now = new Map(after.map((part) => [part.name, part]));
  return [...new Set([...old.keys(), ...now.keys()])].sort().map((name) => [name, old.get(name), now.get(name)]);
}

function diffs<T extends object>(parts: readonly Pair<T>[], ignored: readonly string[]): PartDiff[] {
  return parts.flatMap(([name, before, after]): PartDiff[] => {
    if (before === after) return [];
    if (!before) return [{ change: 'added', name, fields: [] }];
    if (!after) return [{ change: 'removed', name, fields: [] }];
    const fields = fieldDiffs(before, after, ignored);
    return fields.length > 0 ? [{ change: 'changed', name, fields }] : [];
  });
}

function fieldDiffs(before: object, after: object, ignored: readonly string[]): FieldDiff[] {
  const [old, now] = [before, after] as [Record<string, unknown>, Record<string, unknown>];
  const fields = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((field) => !ignored.includes(field));
  return fields
    .filter((field) => old[field] !== now[field] && contentText(old[field]) !== contentText(now[field]))
    .map((field) => ({ field, before: old[field], after: now[field] }));
}
