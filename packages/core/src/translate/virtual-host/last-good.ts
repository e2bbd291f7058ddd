import type { ResourceKey, ResourceRef } from '../../resource/resource.ts';
import type { Matcher } from '../../schema/route/matcher.ts';
import type { RouteAction, SnapshotGraphQLApi } from '../../contract/snapshot.ts';
import { contentText } from '../snapshot/content.ts';
import { dotted } from '../names.ts';

/** What a route does when each of its references is good. */
export interface IntendedAction {
  readonly action: RouteAction;
  /** Everything that it referred to, directly or indirectly. */
  readonly refs: readonly ResourceKey[];
  /** Destinations of a forwarding action, in order. */
  readonly upstreams: readonly ResourceRef[];
  /** The GraphQLApi of a GraphQL action. */
  readonly api?: SnapshotGraphQLApi;
}

/** The action of a route when all its references were valid. */
export interface GoodAction extends IntendedAction {
  /** The options that decided who may do it; see {@link accessOf}. */
  readonly access: string;
}

/** Options that decide who may use a route. */
const ACCESS = ['extauth', 'rbac', 'jwt', 'jwtStaged', 'jwtProvidersStaged'] as const;

/** Returns a text that is the same only where the same requests may use a route. */
export function accessOf(...levels: readonly Readonly<Partial<Record<(typeof ACCESS)[number], unknown>>>[]): string {
  return contentText(levels.map((options) => ACCESS.map((name) => options[name])));
}

/** Options that a reference to shared options last led to, or keeps of another one in whose place it is written. */
export interface GoodOptions {
  /** What the reference says. */
  readonly ref: ResourceKey;
  readonly options: object | undefined;
}

/** The route table that a delegating route last led to. */
export interface GoodTable {
  readonly ref: ResourceRef;
  /** The options that decided who may use its routes; see {@link accessOf}. */
  readonly access: string;
}

/** What the next translation is to know of one virtual service. */
export interface GoodParts {
  readonly actions: ReadonlyMap<string, GoodAction>;
  /** In the order of their references. */
  readonly options: ReadonlyMap<string, readonly GoodOptions[]>;
  readonly tables: ReadonlyMap<string, GoodTable>;
}

/** Where a route is written, and what tells it from the others there. */
interface RoutePlace {
  readonly kind: string;
  readonly ref: ResourceRef;
  readonly matchers: readonly Matcher[];
  readonly name: string | undefined;
}

/**
 * The last good parts of one virtual service. A route is known by the resource it is written in and its matchers, also
 * when its place in the list changes; one with a name also when its matchers do.
 */
export class LastGood {
  readonly actions: Remembered<GoodAction>;
  readonly options: Remembered<readonly GoodOptions[]>;
  readonly tables: Remembered<GoodTable>;
  readonly #counts = new Map<string, number>();
  /** GraphQLApis that are served unchanged, by name. */
  readonly keptApis = new Map<string, SnapshotGraphQLApi>();

  constructor(before: GoodParts | undefined) {
    this.actions = new Remembered(before?.actions);
    this.options = new Remembered(before?.options);
    this.tables = new Remembered(before?.tables);
  }

  /** Returns the keys of a route, the most specific first. Must be called once for each route, in order. */
  keysOf({ kind, ref, matchers, name }: RoutePlace): readonly string[] {
    const source = `${kind} ${dotted(ref)}`;
    const own = this.#numbered(`${source} ${contentText(matchers)}`);
    return name ? [own, this.#numbered(`${source} named ${name}`)] : [own];
  }

  /** The state for the next translation. */
  parts(): GoodParts {
    return { actions: this.actions.now, options: this.options.now, tables: this.tables.now };
  }

  /** Numbers equal keys by their order. */
  #numbered(key: string): string {
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    return `${key} ${count}`;
  }
}

/** One sort of parts: as they were before, and as they are to be known next time. */
class Remembered<T> {
  readonly #before: ReadonlyMap<string, T> | undefined;
  readonly now = new Map<string, T>();

  constructor(before: ReadonlyMap<string, T> | undefined) {
    this.#before = before;
  }

  find(keys: readonly string[]): T | undefined {
    const key = keys.find((one) => this.#before?.has(one));
    return key === undefined ? undefined : this.#before?.get(key);
  }

  keep(keys: readonly string[], good: T): void {
    for (const key of keys) this.now.set(key, good);
  }
}
