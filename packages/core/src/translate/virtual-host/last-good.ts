import type { ResourceKey, ResourceRef } from '../../resource/resource.ts';
import type { Matcher } from '../../schema/route/matcher.ts';
import type { RouteAction, SnapshotGraphQLApi } from '../../contract/snapshot.ts';
import { contentText } from '../snapshot/content.ts';
import { dotted } from '../names.ts';

/** The action of a route with valid references. */
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
  /** The options that controlled access to it; see {@link accessOf}. */
  readonly access: string;
}

/** Options that control access to a route. */
const ACCESS = ['extauth', 'rbac', 'jwt', 'jwtStaged', 'jwtProvidersStaged'] as const;

/** Most routes have none, at any level. */
const NO_ACCESS = 'none';

/** Good actions without access rules, by the action that routes share. */
const OPEN = new WeakMap<IntendedAction, GoodAction>();

/** Returns the good action of a route: the same one for routes with the same action and without access rules. */
export function goodAction(intended: IntendedAction, access: string): GoodAction {
  if (access !== NO_ACCESS) return { ...intended, access };
  let good = OPEN.get(intended);
  if (!good) OPEN.set(intended, (good = { ...intended, access }));
  return good;
}

/** Returns a text that is equal only for equal access rules. */
export function accessOf(...levels: readonly Readonly<Partial<Record<(typeof ACCESS)[number], unknown>>>[]): string {
  if (levels.every((options) => ACCESS.every((name) => options[name] === undefined))) return NO_ACCESS;
  return contentText(levels.map((options) => ACCESS.map((name) => options[name])));
}

/** The last good options of a reference, or those of the reference that it replaces. */
export interface GoodOptions {
  /** The reference. */
  readonly ref: ResourceKey;
  readonly options: object | undefined;
}

/** The last good route table of a delegating route. */
export interface GoodTable {
  readonly ref: ResourceRef;
  /** The options that controlled access to its routes; see {@link accessOf}. */
  readonly access: string;
}

/** The memo of one virtual service for the next translation. */
export interface GoodParts {
  readonly actions: ReadonlyMap<string, GoodAction>;
  /** In the order of their references. */
  readonly options: ReadonlyMap<string, readonly GoodOptions[]>;
  readonly tables: ReadonlyMap<string, GoodTable>;
}

/** The location of a route and its distinguishing features. */
interface RoutePlace {
  readonly kind: string;
  readonly ref: ResourceRef;
  readonly matchers: readonly Matcher[];
  readonly name: string | undefined;
}

/**
 * The last good parts of one virtual service. A route is identified by its resource and its matchers,
 * independent of its index; a named route also by its name.
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
    // The parts are those of one virtual service: its own routes need no name of a resource.
    const source = kind === 'VirtualService' ? '' : `${kind} ${dotted(ref)} `;
    const own = this.#numbered(`${source}${contentText(matchers)}`);
    return name ? [own, this.#numbered(`${source}named ${name}`)] : [own];
  }

  /** The state for the next translation. */
  parts(): GoodParts {
    return { actions: this.actions.kept, options: this.options.kept, tables: this.tables.kept };
  }

  /** Numbers equal keys by their order. */
  #numbered(key: string): string {
    const count = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count + 1);
    // join() avoids a rope string that keeps its parts in memory.
    return [key, count].join(' ');
  }
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

/** Parts of one type: the previous ones, and those for the next translation. */
class Remembered<T> {
  readonly #before: ReadonlyMap<string, T> | undefined;
  #now: Map<string, T> | undefined;

  constructor(before: ReadonlyMap<string, T> | undefined) {
    this.#before = before;
  }

  find(keys: readonly string[]): T | undefined {
    const key = keys.find((one) => this.#before?.has(one));
    return key === undefined ? undefined : this.#before?.get(key);
  }

  keep(keys: readonly string[], good: T): void {
    this.#now ??= new Map();
    for (const key of keys) this.#now.set(key, good);
  }

  get kept(): ReadonlyMap<string, T> {
    return this.#now ?? (NOTHING as ReadonlyMap<string, T>);
  }
}
