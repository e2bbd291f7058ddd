import { isDeepStrictEqual } from 'node:util';
import {
  compareOrigins,
  duplicateIssues,
  readContent,
  type Claim,
  type UnitContent,
  type ValidatedDocuments,
} from './claim.ts';
import type { Observed, StoredResource, StoreState } from '../resource/stored.ts';
import type { FieldPath, Problem } from '../resource/problem.ts';
import { identityOfKey, keyOf, type Origin, type Resource, type ResourceKey } from '../resource/resource.ts';
import type { ClusterService } from '../contract/cluster-services.ts';
import type { SettingsSpec } from '../schema/kind/settings.ts';
import { settingsKey } from '../translate/translation-settings.ts';
import { labelsOfName, watchedNamespaces, type IsWatched } from './watched-namespaces.ts';
import type { Secrets, SecretValue } from '../contract/snapshot.ts';
import { withChanges, type MapChanges } from '../layered-map.ts';
import type { Source, SourceChange } from '../source/source.ts';
import { runSteps, type Steps } from '../time/slices.ts';
import type { ResourceCheck } from '../validate/check.ts';

/** Stores the resources of all units. It has one writer. */
export interface Store {
  /** The same object until an applied change modifies something. */
  readonly state: StoreState;
  /** Number of resources in namespaces that the Settings do not watch. */
  readonly unwatched: number;
  /** Validates and applies the new content of units. Returns the changed keys. */
  apply(change: SourceChange): ReadonlySet<ResourceKey>;
  /** Does the same in steps: one for each document. Nothing else may change the store meanwhile; `state` stays the same until the last step. */
  applySteps(change: SourceChange): Steps<ReadonlySet<ResourceKey>>;
  /** Applies a change only while `look` runs, which receives the changed keys. Returns its result. */
  preview<T>(change: SourceChange, look: (changed: ReadonlySet<ResourceKey>) => T): T;
  /** Stores observations about resources until they are replaced; `undefined` removes them. */
  observe(entries: Iterable<readonly [ResourceKey, Observed | undefined]>): ReadonlySet<ResourceKey>;
  /** Applies changes of the Services of a cluster. */
  applyServices(changes: MapChanges<string, ClusterService>): void;
  /** Returns the current position of a field of a resource, or of its nearest parent; `undefined` without a document. */
  locate(key: ResourceKey, path: FieldPath): Origin | undefined;
}

/**
 * Creates an empty store at revision 0. `checks` reject resources in addition to the schemas. `validated` keeps results for another store.
 *
 * - If a version of a resource is rejected, the last good one stays in use until the resource is deleted. Settings that were
 *   never good are used without their invalid fields.
 * - Several documents with the same kind, namespace and name are all rejected, in any order. The version in use stays.
 * - A unit that is unreadable as a whole keeps its previous resources.
 * - Resources outside of the namespaces that the Settings watch are not part of the state, except on a `platform` whose source selects them.
 *
 * @example
 * const store = createStore();
 * store.apply(new Map([['a.yaml', parseDocuments(text, 'a.yaml')]]));
 * console.log(store.state.stored.get('Upstream/gw-system/a')?.resource);
 */
export function createStore(
  checks: readonly ResourceCheck[] = [],
  platform?: Source['platform'],
  validated?: ValidatedDocuments,
): Store {
  const units = new Map<string, UnitContent>();
  const claims = new Map<ResourceKey, Claim[]>();
  const observed = new Map<ResourceKey, Observed>();
  /** Those of `units` with problems without a key. */
  const withUnfiled = new Map<string, UnitContent>();
  /** The resources of all namespaces. */
  let all: StoreState['stored'] = new Map();
  let isWatched: IsWatched | undefined;
  /** The fields of the Settings that `isWatched` was made of. */
  let selection = '';
  let state: StoreState = { revision: 0, stored: new Map(), faulty: new Map(), unfiled: [] };

  function replace(unit: string, content: UnitContent | undefined): ResourceKey[] {
    const before = units.get(unit)?.claims ?? [];
    const now = content?.claims ?? [];
    for (const claim of before) {
      const left = claims.get(claim.key)!.filter((other) => other !== claim);
      if (left.length > 0) claims.set(claim.key, left);
      else claims.delete(claim.key);
    }
    for (const claim of now) {
      const others = claims.get(claim.key);
      // `push` would reserve space for 16 more, and most keys have one claim.
      claims.set(claim.key, others ? [...others, claim] : [claim]);
    }
    if (content) units.set(unit, content);
    else units.delete(unit);
    if (content && content.unfiled.length > 0) withUnfiled.set(unit, content);
    else withUnfiled.delete(unit);
    return [...before, ...now].map(({ key }) => key);
  }

  function* applySteps(change: SourceChange): Steps<ReadonlySet<ResourceKey>> {
    const touched = new Set<ResourceKey>();
    for (const [unit, written] of change) {
      const held = (units.get(unit)?.claims ?? []).map(({ key }) => key);
      const usable = held.filter((key) => all.get(key)?.resource);
      const content =
        written.length > 0 ? yield* readContent(written, usable, { checks, platform, validated }) : undefined;
      for (const key of replace(unit, content)) touched.add(key);
      if (!content) yield;
    }
    return yield* settle(touched);
  }
  const apply = (change: SourceChange): ReadonlySet<ResourceKey> => runSteps(applySteps(change));

  function* settle(touched: ReadonlySet<ResourceKey>): Steps<ReadonlySet<ResourceKey>> {
    const changes = new Map<ResourceKey, StoredResource | undefined>();
    for (const key of touched) {
      const before = all.get(key);
      const now = resolve(claims.get(key) ?? [], before, observed.get(key));
      if (now !== before) changes.set(key, now);
      yield;
    }
    const unfiled = unfiledOf(withUnfiled, state.unfiled);
    select(changes);
    if (changes.size > 0 || unfiled !== state.unfiled || state.revision === 0) {
      const stored = isWatched ? withChanges(state.stored, changes) : all;
      const faulty = withChanges(
        state.faulty,
        Array.from(changes, ([key, now]) => [key, isFaulty(now) ? now : undefined] as const),
      );
      state = Object.freeze({ ...state, revision: state.revision + 1, stored, faulty, unfiled });
    }
    return new Set(changes.keys());
  }

  /** Applies changes to the resources of all namespaces, and leaves those that change the state. */
  function select(changes: Map<ResourceKey, StoredResource | undefined>): void {
    all = withChanges(all, changes);
    if (changes.has(settingsKey()) && selectNamespaces()) {
      for (const [key, stored] of all) if (!state.stored.has(key)) changes.set(key, stored);
      for (const [key, stored] of state.stored) if (!changes.has(key)) changes.set(key, stored);
    }
    for (const [key, now] of changes) {
      const visible = now && isRead(key) ? now : undefined;
      if (visible === state.stored.get(key)) changes.delete(key);
      else changes.set(key, visible);
    }
  }

  /** Takes the selection of the Settings. Returns false if it is the same as before. */
  function selectNamespaces(): boolean {
    const spec = (all.get(settingsKey())?.resource?.spec ?? {}) as SettingsSpec;
    const { discoveryNamespace, watchNamespaces, watchNamespaceSelectors } = spec;
    const next = JSON.stringify([discoveryNamespace, watchNamespaces, watchNamespaceSelectors]);
    if (next === selection) return false;
    selection = next;
    isWatched = platform ? undefined : watchedNamespaces(spec);
    return true;
  }

  function isRead(key: ResourceKey): boolean {
    if (!isWatched || key === settingsKey()) return true;
    const { namespace } = identityOfKey(key);
    return isWatched(namespace, labelsOfName(namespace));
  }

  return {
    get state() {
      return state;
    },
    get unwatched() {
      return all.size - state.stored.size;
    },
    apply,
    applySteps,
    preview(change, look) {
      const before = { all, isWatched, selection, state };
      const contents = Array.from(change.keys(), (unit) => [unit, units.get(unit)] as const);
      try {
        return look(apply(change));
      } finally {
        for (const [unit, content] of contents) replace(unit, content);
        ({ all, isWatched, selection, state } = before);
      }
    },
    observe(entries) {
      const touched = new Set<ResourceKey>();
      for (const [key, found] of entries) {
        if (found) observed.set(key, found);
        else if (!observed.delete(key)) continue;
        touched.add(key);
      }
      return touched.size > 0 ? runSteps(settle(touched)) : touched;
    },
    applyServices(changes) {
      const { services: before = new Map<string, ClusterService>(), revision } = state;
      const differing = [...changes].filter(([key, service]) => before.get(key) !== service);
      if (differing.length === 0 && state.services) return;
      state = Object.freeze({ ...state, revision: revision + 1, services: withChanges(before, differing) });
    },
    locate(key, path) {
      const claim = claims.get(key)?.find(({ retained }) => !retained);
      return claim?.locate?.(path) ?? claim?.origin;
    },
  };
}

function isFaulty(stored: StoredResource | undefined): boolean {
  return stored !== undefined && (stored.issues.length > 0 || stored.written !== undefined);
}

/** Returns the secrets among the resources in use. */
export function secretsOf(stored: ReadonlyMap<ResourceKey, StoredResource>): Secrets {
  return { get: (ref) => stored.get(keyOf('Secret', ref))?.resource?.spec as SecretValue | undefined };
}

/** Returns the state of a key from the documents that claim it; `before` itself if nothing changed. */
function resolve(
  claims: readonly Claim[],
  before: StoredResource | undefined,
  observed: Observed | undefined,
): StoredResource | undefined {
  const written = claims.filter(({ retained }) => !retained).sort((a, b) => compareOrigins(a.origin, b.origin));
  const [first = claims[0]] = written;
  if (!first) return undefined;
  const accepted = written.length === 1 ? first.resource : undefined;
  const good = before?.partial ? undefined : before?.resource;
  const partial = !accepted && !good && written.length === 1 ? first.remainder : undefined;
  const newest = accepted ?? partial;
  const resource = newest ? sameResource(newest, before?.resource) : before?.resource;
  const own = written.length > 0 ? written.flatMap((claim) => claim.issues) : first.issues;
  const issues = written.length > 1 ? [...own, ...duplicateIssues(written)] : [...own];
  if (observed) issues.push(...observedIssues(first, observed));
  const stale = !accepted && resource !== undefined;
  const kept = { key: first.key, resource, stale, issues, ...(observed && { observed }) };
  const tls = first.asksForTls && !resource && { asksForTls: true as const };
  const document = first.written && !resource && { written: first.written };
  const now = { ...kept, ...document, ...tls, ...(stale && resource !== good && { partial: true as const }) };
  return before && before.resource === resource && isDeepStrictEqual(before, now) ? before : Object.freeze(now);
}

/** Returns the previous resource if nothing changed, and keeps its spec if only its position changed. */
function sameResource(now: Resource, before: Resource | undefined): Resource {
  if (!before || !isDeepStrictEqual(now.spec, before.spec)) return now;
  return isDeepStrictEqual(now, before) ? before : Object.freeze({ ...now, spec: before.spec });
}

function unfiledOf(units: ReadonlyMap<string, UnitContent>, before: readonly Problem[]): readonly Problem[] {
  const unfiled: Problem[] = [];
  for (const content of units.values()) unfiled.push(...content.unfiled);
  unfiled.sort((a, b) => compareOrigins(a.origin, b.origin));
  return isDeepStrictEqual(unfiled, before) ? before : unfiled;
}

/** Returns the problems, placed in the document that writes the resource. */
function observedIssues({ key, origin, locate }: Claim, { problems }: Observed): Problem[] {
  return problems.map((problem) => ({
    code: 'LEARNED',
    origin: locate?.(problem.path) ?? origin,
    ...identityOfKey(key),
    ...problem,
  }));
}
