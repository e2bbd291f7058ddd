import { getNamedType, isLeafType } from 'graphql';
import type { Children, FieldPlan, Plan, Selection } from './field-plan.ts';
import type { CacheHint } from '../schema/read-schema.ts';

/** How long the result of an operation may be cached, and for whom. */
export interface CachePolicy {
  /** Seconds; 0 disables caching. */
  readonly maxAge: number;
  /** `unset` if some field has no scope: private for requests that identify their client, public for others. */
  readonly scope: CacheScope;
}

type CacheScope = 'public' | 'private' | 'unset';

const SCOPE_RANK: Readonly<Record<CacheScope, number>> = { public: 0, unset: 1, private: 2 };

interface Inherited {
  readonly maxAge: number;
  readonly scope: CacheScope;
}

/** Returns the policy of plans, computed once each. `usesClient` is true for fields that read more than document and variables. */
export function createCachePolicies(
  hints: ReadonlyMap<string, CacheHint>,
  usesClient: (field: FieldPlan) => boolean,
): (plan: Plan) => CachePolicy {
  const known = new WeakMap<Plan, CachePolicy>();
  return (plan) => {
    let policy = known.get(plan);
    if (!policy) {
      policy = cachePolicy(plan.selection, hints);
      // A result that depends on the client is private, whatever is declared.
      if (policy.maxAge > 0 && anyField(plan.selection, usesClient)) policy = { ...policy, scope: 'private' };
      known.set(plan, policy);
    }
    return policy;
  };
}

/** Visits shared selections once. */
function anyField(selection: Selection, test: (field: FieldPlan) => boolean): boolean {
  const seen = new Set<Selection | Children>();
  const isNew = (place: Selection | Children): boolean => !seen.has(place) && seen.add(place).size > 0;
  const found = (fields: Selection): boolean =>
    isNew(fields) && fields.some((field) => test(field) || (isNew(field.children) && below(field.children)));
  const below = (children: Children): boolean => children.all().some(found);
  return found(selection);
}

/** Returns the shortest time and narrowest scope of all fields. Root fields and objects have 0 by default, others inherit. */
function cachePolicy(selection: Selection, hints: ReadonlyMap<string, CacheHint>): CachePolicy {
  let maxAge = Number.POSITIVE_INFINITY;
  let scope: CachePolicy['scope'] = 'public';
  /** Inherited policies of visited selections, which may be shared. */
  const visited = new Map<Selection | Children, Set<string>>();

  function isKnown(place: Selection | Children, inherited: Inherited): boolean {
    const before = visited.get(place) ?? new Set();
    const key = `${inherited.maxAge} ${inherited.scope}`;
    if (before.has(key)) return true;
    visited.set(place, before.add(key));
    return false;
  }

  function visit(fields: Selection, inherited: Inherited): void {
    if (isKnown(fields, inherited)) return;
    for (const field of fields) {
      if (field.name.startsWith('__')) continue;
      const hint = hintOf(field, hints);
      const inherits = hint.maxAge === undefined && (hint.inheritMaxAge === true || isLeafBelow(field, inherited));
      const own: Inherited = {
        maxAge: hint.maxAge ?? (inherits ? inherited.maxAge : 0),
        scope: hint.scope ?? (inherits ? inherited.scope : 'unset'),
      };
      maxAge = Math.min(maxAge, own.maxAge);
      if (SCOPE_RANK[own.scope] > SCOPE_RANK[scope]) scope = own.scope;
      // It cannot become longer again.
      if (maxAge <= 0) return;
      if (!isKnown(field.children, own)) for (const inner of field.children.all()) visit(inner, own);
    }
  }

  visit(selection, { maxAge: -1, scope: 'unset' });
  return { maxAge: Number.isFinite(maxAge) ? Math.max(0, maxAge) : 0, scope };
}

function isLeafBelow({ definition }: FieldPlan, inherited: Inherited): boolean {
  return inherited.maxAge >= 0 && isLeafType(getNamedType(definition.type));
}

function hintOf({ definition, parentType, name }: FieldPlan, hints: ReadonlyMap<string, CacheHint>): CacheHint {
  const type = hints.get(getNamedType(definition.type).name);
  const field = hints.get(`${parentType.name}.${name}`);
  return { ...type, ...field };
}

/** Returns the value of `Cache-Control`; `undefined` if caching is disabled. */
export function cacheControl(maxAge: number, scope: 'public' | 'private'): string | undefined {
  return maxAge > 0 ? `max-age=${maxAge}, ${scope}` : undefined;
}
