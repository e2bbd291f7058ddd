import type { ResourceKey, ResourceRef } from '../resource.ts';
import type { Matcher } from '../schema/matcher.ts';
import type { RouteAction, SnapshotGraphQLApi } from '../snapshot.ts';
import { contentText } from './content.ts';
import type { Leaf } from './delegation.ts';
import { dotted } from './names.ts';

/** What a route did when each of its references was good. */
export interface GoodAction {
  readonly action: RouteAction;
  /** All that it referred to, directly or through others. */
  readonly refs: readonly ResourceKey[];
  /** Of the destinations of a forwarding action, in their order. */
  readonly upstreams: readonly ResourceRef[];
  /** Of an action that a GraphQLApi serves. */
  readonly api?: SnapshotGraphQLApi;
}

/** By route. */
export type GoodActions = ReadonlyMap<string, GoodAction>;

/**
 * The last good action of each route of one virtual service. A route is known by the resource it is written in and its
 * matchers, also when its place in the list changes; one with a name also when its matchers do.
 */
export class LastGood {
  readonly #before: GoodActions;
  readonly #now = new Map<string, GoodAction>();
  readonly #counts = new Map<string, number>();
  /** GraphQLApis that are served as they were, by name. */
  readonly keptApis = new Map<string, SnapshotGraphQLApi>();

  constructor(before: GoodActions | undefined) {
    this.#before = before ?? new Map<string, GoodAction>();
  }

  /** The keys of a route, the surest first. To be called once for each route, in order. */
  keysOf({ holder, matchers, spec }: Leaf): readonly string[] {
    const source = `${holder.kind} ${dotted(holder.ref)}`;
    const own = this.#numbered(`${source} ${contentText(matchers satisfies readonly Matcher[])}`);
    return spec.name ? [own, this.#numbered(`${source} named ${spec.name}`)] : [own];
  }

  find(keys: readonly string[]): GoodAction | undefined {
    const key = keys.find((one) => this.#before.has(one));
    return key === undefined ? undefined : this.#before.get(key);
  }

  keep(keys: readonly string[], good: GoodAction): void {
    for (const key of keys) this.#now.set(key, good);
  }

  /** What the next translation is to know. */
  actions(): GoodActions {
    return this.#now;
  }

  /** Equal keys are told apart by their order. */
  #numbered(key: string): string {
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    return `${key} ${count}`;
  }
}
