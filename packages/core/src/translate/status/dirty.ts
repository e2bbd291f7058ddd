import type { ResourceKey } from '../../resource/resource.ts';
import type { Changes } from '../changes.ts';
import { changedBuilds, type ListenerBuild } from '../listener/listeners.ts';
import type { MissingOptions } from '../listener/missing-options.ts';
import type { Memo } from '../memo.ts';
import type { TranslationInput } from '../input.ts';
import { difference } from '../../ranges.ts';

/** What the current translation made so far. */
interface Translated {
  readonly input: TranslationInput;
  readonly listeners: ReadonlyMap<string, ListenerBuild>;
  readonly missing: MissingOptions;
}

/** Kinds of few resources, whose status may depend on any other. */
const COMMON_KINDS = [
  'UpstreamGroup',
  'Settings',
  'MatchableHttpGateway',
  'MatchableTcpGateway',
  'ListenerOption',
  'HttpListenerOption',
] as const;

/** Returns a superset of the resources whose status may have changed. */
export function dirtyKeys(
  { input, listeners, missing }: Translated,
  memo: Memo,
  changes: Changes,
): ReadonlySet<ResourceKey> {
  const dirty = new Set(changes.keys);
  for (const [name, build] of listeners) compare(build, memo.listeners.get(name), dirty);
  for (const [name, build] of memo.listeners) if (!listeners.has(name)) compare(build, undefined, dirty);
  for (const key of new Set([...missing.keys(), ...memo.missing.keys()])) {
    if (missing.get(key) !== memo.missing.get(key)) dirty.add(key);
  }
  if (input.upstreams !== memo.upstreams) {
    for (const [key, entry] of input.upstreams) if (memo.upstreams.get(key) !== entry) dirty.add(key);
  }
  if (input.authConfigs !== memo.authConfigs) {
    for (const [key, entry] of input.authConfigs) if (memo.authConfigs.get(key) !== entry) dirty.add(key);
  }
  for (const kind of COMMON_KINDS) for (const { key } of input.list(kind)) dirty.add(key);
  return dirty;
}

function compare(now: ListenerBuild, before: ListenerBuild | undefined, dirty: Set<ResourceKey>): void {
  dirty.add(now.owner);
  if (now.tls !== before?.tls) {
    for (const tls of [now.tls, before?.tls]) for (const { key } of tls?.located ?? []) dirty.add(key);
  }
  for (const build of difference(now.builds, before?.builds ?? []).removed) mark(build, dirty);
  for (const i of changedBuilds(now, before ?? NOTHING)) mark(now.builds[i]!, dirty);
}

const NOTHING = { builds: [], services: [] };

function mark({ stored, tables }: ListenerBuild['builds'][number], dirty: Set<ResourceKey>): void {
  dirty.add(stored.key);
  for (const key of tables.keys()) dirty.add(key);
}
