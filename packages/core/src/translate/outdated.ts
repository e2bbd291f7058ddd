import type { ResourceKey } from '../resource/resource.ts';
import type { AuthConfigEntry, AuthConfigTable } from './reference/tables.ts';
import { isAffected, type Changes } from './changes.ts';
import type { Memo } from './memo.ts';
import type { UpstreamTable } from './reference/tables.ts';
import type { TranslationInput } from './input.ts';

/** Kinds whose changes are compared in more detail than by resource. */
const COMPARED_KINDS = ['AuthConfig/', 'Upstream/', 'VirtualService/'];

/** Returns which previous builds cannot be reused. */
export function outdatedBy(input: TranslationInput, memo: Memo | undefined, changes: Changes | undefined) {
  const keys = new Set<ResourceKey>();
  const all = !memo || !changes || memo.settings !== input.settings;
  for (const key of changes?.keys ?? []) if (!COMPARED_KINDS.some((kind) => key.startsWith(kind))) keys.add(key);
  for (const key of changedUpstreams(input.upstreams, memo?.upstreams)) keys.add(key);
  for (const key of changedAuthConfigs(input.authConfigs, memo?.authConfigs)) keys.add(key);
  return ({ dependencies }: { dependencies: Parameters<typeof isAffected>[0] }) =>
    all || isAffected(dependencies, keys, changes);
}

/** Returns the upstreams whose references must be checked again: added, removed, or with another fault or warning. */
function changedUpstreams(now: UpstreamTable, before: UpstreamTable | undefined): ResourceKey[] {
  if (!before || before === now) return [];
  const changed: ResourceKey[] = [];
  for (const [key, entry] of now) {
    const old = before.get(key);
    if (old !== entry && (!old || old.fault?.message !== entry.fault?.message || old.warning !== entry.warning))
      changed.push(key);
  }
  for (const key of before.keys()) if (!now.has(key)) changed.push(key);
  return changed;
}

/** Returns the AuthConfigs whose virtual hosts must be rebuilt. */
function changedAuthConfigs(now: AuthConfigTable, before: AuthConfigTable | undefined): ResourceKey[] {
  if (!before || before === now) return [];
  const isSame = (a: AuthConfigEntry, b: AuthConfigEntry | undefined) =>
    a.config === b?.config && a.fault?.message === b?.fault?.message && a.warning === b?.warning;
  const changed = [...now].flatMap(([key, entry]) => (isSame(entry, before.get(key)) ? [] : [key]));
  return [...changed, ...[...before.keys()].filter((key) => !now.has(key))];
}
