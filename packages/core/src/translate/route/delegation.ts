import type { FieldPath } from '../../resource/problem.ts';
import { keyOf, type ResourceKey, type ResourceRef } from '../../resource/resource.ts';
import type { Matcher } from '../../schema/route/matcher.ts';
import type { DelegateAction, RouteSpec } from '../../schema/route/route.ts';
import type { RouteOptions, VirtualHostOptions } from '../../schema/route/route-options.ts';
import { delegatingProblem } from '../../validate/route/check-matcher.ts';
import { accessOf, type LastGood } from '../virtual-host/last-good.ts';
import { EVERY_PATH, delegatingMatcher, inheritMatcher, outsideParent, type Inheritance } from './matchers.ts';
import { routeMessage } from '../status/messages.ts';
import { dotted, type LogNameStep } from '../names.ts';
import { routeOptions, Withheld } from '../virtual-host/options.ts';
import { Report } from '../status/report.ts';
import { sortRoutes } from './route-order.ts';
import { selectTables, type SelectedTable } from './route-tables.ts';
import { withInheritedTransformations } from '../virtual-host/effective-transformations.ts';
import type { Reader } from '../input.ts';

/** Maximum number of routes of a virtual host, and of tables visited for it: delegation can grow exponentially. */
export const MAX_ROUTES = 100_000;

/** The resource that contains a route. */
export interface Holder {
  readonly kind: 'VirtualService' | 'RouteTable';
  readonly ref: ResourceRef;
  readonly report: Report;
}

/** A leaf route with its merged matchers and options. */
export interface Leaf {
  readonly spec: RouteSpec;
  readonly matchers: readonly Matcher[];
  readonly options: RouteOptions;
  readonly steps: readonly LogNameStep[];
  readonly holder: Holder;
  /** Name for messages: its own, or its index in the resource. */
  readonly label: string;
  /** Its path in the resource of its holder. */
  readonly at: FieldPath;
  /** Key of its last good parts. */
  readonly keys: readonly string[];
  /** The route that delegates to it. */
  readonly above: DelegatingRoute | undefined;
  /** Why its requests are rejected. */
  readonly withheld: string | undefined;
}

/** A route that delegates to others. */
export type DelegatingRoute = Pick<Leaf, 'spec' | 'holder' | 'label' | 'at' | 'above'>;

/** The delegating route above a list of routes. */
interface Parent {
  readonly matcher: Matcher;
  readonly options: RouteOptions;
  readonly inherit: Inheritance;
  readonly steps: readonly LogNameStep[];
  readonly tables: readonly ResourceRef[];
  readonly route: DelegatingRoute;
  readonly withheld: string | undefined;
}

/** One expansion: its input, the report of every visited table, and a limit of routes. */
export class Expansion {
  readonly reader: Reader;
  readonly top: Holder;
  readonly lastGood: LastGood;
  readonly tables = new Map<ResourceKey, Holder>();
  /** True if requests are rejected without the shared options that a reference names. */
  readonly needsShared: boolean;
  #visits = 0;
  #hostOptions: VirtualHostOptions = {};

  constructor(reader: Reader, top: Holder, lastGood: LastGood, needsShared = false) {
    this.reader = reader;
    this.top = top;
    this.lastGood = lastGood;
    this.needsShared = needsShared;
  }

  /** Returns the leaf routes of the virtual service, in order. */
  leaves(routes: readonly RouteSpec[], hostOptions: VirtualHostOptions): readonly Leaf[] {
    this.#hostOptions = hostOptions;
    return this.#expand(routes, this.top, undefined);
  }

  #expand(routes: readonly RouteSpec[], holder: Holder, parent: Parent | undefined): Leaf[] {
    const leaves: Leaf[] = [];
    for (const [index, spec] of routes.entries()) {
      if (++this.#visits > MAX_ROUTES) {
        this.top.report.error(`its routes expand to more than ${MAX_ROUTES}`);
        return leaves;
      }
      leaves.push(...this.#route({ spec, index, holder, parent }));
    }
    return leaves;
  }

  #route({ spec, index, holder, parent }: Place): readonly Leaf[] {
    const label = spec.name || `<unnamed-${index}>`;
    const at = routePath(holder, index);
    const inherit = inheritanceOf(spec, parent?.inherit);
    const matchers = matchersOf(spec, parent, inherit);
    if (typeof matchers === 'string') {
      const why = `the route is left out: ${matchers}`;
      holder.report.warn(routeMessage('ProcessingWarning', why, label), [...at, 'matchers']);
      return [];
    }
    const { reader, lastGood } = this;
    const { kind, ref, report } = holder;
    const keys = lastGood.keysOf({ kind, ref, matchers, name: spec.name });
    const missing = this.needsShared ? new Withheld() : undefined;
    const context = { namespace: ref.namespace, reader, report, at, lastGood, keys, withheld: missing };
    const merged = routeOptions(spec, parent?.options, context);
    const withheld = parent?.withheld ?? missing?.reason;
    const options = withInheritedTransformations(merged, parent ? parent.options : this.#hostOptions);
    const table = kind === 'RouteTable' ? ref : undefined;
    const above = parent?.route;
    const steps = [...(parent?.steps ?? []), { table, name: spec.name, index }];
    if (!spec.delegateAction) return [{ spec, matchers, options, steps, holder, label, at, keys, above, withheld }];
    const problem = delegatingProblem(matchers);
    if (problem) {
      holder.report.error(routeMessage('ProcessingError', problem, label), [...at, 'matchers']);
      return [];
    }
    const below = {
      matcher: delegatingMatcher(matchers),
      options,
      inherit,
      steps,
      tables: parent?.tables ?? [],
      route: { spec, holder, label, at, above },
      withheld,
    };
    return this.#delegate({ action: spec.delegateAction, at: [...at, 'delegateAction'], keys }, holder, below);
  }

  #delegate({ action, at, keys }: Delegation, holder: Holder, parent: Parent): Leaf[] {
    const { tables } = this.lastGood;
    const access = accessOf(this.#hostOptions, parent.options);
    const good = tables.find(keys);
    // Previous routes must not be served under access rules that were not written for them.
    const kept = good?.access === access ? good.ref : undefined;
    const selected = selectTables(action, { ref: holder.ref, report: holder.report, at, kept }, this.reader);
    const [first] = selected;
    if (first && !action.selector) tables.keep(keys, { ref: first.ref, access });
    const leaves: Leaf[] = [];
    for (const pool of byWeight(selected)) {
      const pooled = pool.flatMap((table) => this.#table(table, parent));
      leaves.push(...(pool.length > 1 ? sortRoutes(pooled) : pooled));
    }
    return leaves;
  }

  #table({ ref, spec }: SelectedTable, parent: Parent): Leaf[] {
    const holder = this.#holder(ref);
    const again = parent.tables.findIndex((table) => table.name === ref.name && table.namespace === ref.namespace);
    if (again >= 0) {
      const chain = [this.top.ref, ...parent.tables, ref].map(dotted).join(' -> ');
      const back = parent.steps.find(({ table }) => table?.name === ref.name && table.namespace === ref.namespace);
      const at = back && [...routePath(holder, back.index), 'delegateAction'];
      holder.report.error(`delegation forms a loop: ${chain}`, at);
      return [];
    }
    return this.#expand(spec.routes ?? [], holder, { ...parent, tables: [...parent.tables, ref] });
  }

  #holder(ref: ResourceRef): Holder {
    const key = keyOf('RouteTable', ref);
    const known = this.tables.get(key);
    if (known) return known;
    const holder: Holder = { kind: 'RouteTable', ref, report: new Report() };
    this.tables.set(key, holder);
    return holder;
  }
}

interface Delegation {
  readonly action: DelegateAction;
  readonly at: FieldPath;
  /** Key of its last good table. */
  readonly keys: readonly string[];
}

/** Returns the path of a route in its resource. */
function routePath({ kind }: Holder, index: number): FieldPath {
  return kind === 'RouteTable' ? ['spec', 'routes', index] : ['spec', 'virtualHost', 'routes', index];
}

interface Place {
  readonly spec: RouteSpec;
  readonly index: number;
  readonly holder: Holder;
  readonly parent: Parent | undefined;
}

function inheritanceOf(spec: RouteSpec, parent: Inheritance | undefined): Inheritance {
  return {
    matchers: spec.inheritableMatchers ?? parent?.matchers ?? false,
    pathMatchers: spec.inheritablePathMatchers ?? parent?.pathMatchers ?? false,
  };
}

/** Returns the matchers with inherited conditions, or why the route is outside its parent. */
function matchersOf(spec: RouteSpec, parent: Parent | undefined, inherit: Inheritance): readonly Matcher[] | string {
  const own = spec.matchers?.length ? spec.matchers : [EVERY_PATH];
  if (!parent) return own;
  // A delegating route without a path matches any path, as it will be served.
  const judged = spec.delegateAction && own.length === 1 ? [delegatingMatcher(own)] : own;
  const merged = judged.map((matcher) => inheritMatcher(matcher, parent.matcher, inherit));
  return merged.map((matcher) => outsideParent(matcher, parent.matcher)).find((why) => why !== undefined) ?? merged;
}

function byWeight(tables: readonly SelectedTable[]): SelectedTable[][] {
  const pools = new Map<number, SelectedTable[]>();
  for (const table of tables) {
    const weight = table.spec.weight ?? 0;
    const pool = pools.get(weight);
    if (pool) pool.push(table);
    else pools.set(weight, [table]);
  }
  return [...pools].sort(([a], [b]) => a - b).map(([, pool]) => pool);
}
