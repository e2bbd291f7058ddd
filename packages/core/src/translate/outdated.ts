import type { ResourceKey } from '../resource/resource.ts';
import type { AuthConfigEntry, UpstreamEntry } from './reference/tables.ts';
import { isAffected, type Changes, type Outdated } from './changes.ts';
import type { Memo } from './memo.ts';
import type { TranslationInput } from './input.ts';

/** Kinds whose changes are compared in more detail than by resource. */
const COMPARED_KINDS = ['AuthConfig/', 'Upstream/', 'VirtualService/'];

export function outdatedBy(input: TranslationInput, memo: Memo | undefined, changes: Changes | undefined): Outdated {
  const keys = new Set<ResourceKey>();
  const all = !memo || !changes || memo.settings !== input.settings;
  for (const key of changes?.keys ?? []) if (!COMPARED_KINDS.some((kind) => key.startsWith(kind))) keys.add(key);
  for (const key of changedKeys(input.upstreams, memo?.upstreams)) keys.add(key);
  for (const key of changedKeys(input.serviceUpstreams, memo?.serviceUpstreams)) keys.add(key);
  for (const key of changedKeys(input.authConfigs, memo?.authConfigs)) keys.add(key);
  // No build refers to virtual services.
  const isMissed = [...(changes?.members ?? [])].some((kind) => kind !== 'VirtualService');
  return {
    any: all || keys.size > 0 || isMissed || changes.servicePorts,
    has: ({ dependencies }) => all || isAffected(dependencies, keys, changes),
  };
}

/** The parts of an entry that those who refer to it depend on; upstreams are referred to by name. */
type Target = Pick<AuthConfigEntry, 'config' | 'fault' | 'warning'> & Pick<UpstreamEntry, 'functions'>;

/** Returns the entries that were added or removed, or differ for those who refer to them. */
function changedKeys(
  now: ReadonlyMap<ResourceKey, Target>,
  before: ReadonlyMap<ResourceKey, Target> | undefined,
): ResourceKey[] {
  if (!before || before === now) return [];
  const isSame = (a: Target, b: Target | undefined) =>
    b &&
    a.config === b.config &&
    a.fault?.message === b.fault?.message &&
    a.warning === b.warning &&
    a.functions === b.functions;
  const changed = [...now].flatMap(([key, entry]) => (isSame(entry, before.get(key)) ? [] : [key]));
  return [...changed, ...[...before.keys()].filter((key) => !now.has(key))];
}
