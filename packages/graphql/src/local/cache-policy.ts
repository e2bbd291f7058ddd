import { getNamedType, isLeafType } from 'graphql';
import type { Children, FieldPlan, Selection } from '../execute/plan.ts';
import type { CacheHint } from './schema.ts';

/** How long the result of an operation may be kept, and by whom. */
export interface CachePolicy {
  /** Seconds; 0 is not at all. */
  readonly maxAge: number;
  readonly scope: 'public' | 'private';
}

/**
 * The policy of a whole operation: the shortest time and the narrowest scope of all its fields. Fields of the operation itself and
 * fields that give objects have 0 unless it is said otherwise; others inherit that of their parent. Where the time is 0 the scope
 * says nothing.
 */
export function cachePolicy(selection: Selection, hints: ReadonlyMap<string, CacheHint>): CachePolicy {
  let maxAge = Number.POSITIVE_INFINITY;
  let scope: CachePolicy['scope'] = 'public';
  /** What was inherited by what was visited: it may stand in many places. */
  const visited = new Map<Selection | Children, Set<number>>();

  function isKnown(place: Selection | Children, inherited: number): boolean {
    const before = visited.get(place) ?? new Set();
    if (before.has(inherited)) return true;
    visited.set(place, before.add(inherited));
    return false;
  }

  function visit(fields: Selection, inherited: number): void {
    if (isKnown(fields, inherited)) return;
    for (const field of fields) {
      if (field.name.startsWith('__')) continue;
      const hint = hintOf(field, hints);
      const own = hint.maxAge ?? (hint.inheritMaxAge || isLeafBelow(field, inherited) ? inherited : 0);
      maxAge = Math.min(maxAge, own);
      if (hint.scope === 'private') scope = 'private';
      // Nothing makes it longer again.
      if (maxAge <= 0) return;
      if (!isKnown(field.children, own)) for (const inner of field.children.all()) visit(inner, own);
    }
  }

  visit(selection, -1);
  return { maxAge: Number.isFinite(maxAge) ? Math.max(0, maxAge) : 0, scope };
}

function isLeafBelow({ definition }: FieldPlan, inherited: number): boolean {
  return inherited >= 0 && isLeafType(getNamedType(definition.type));
}

function hintOf({ definition, parentType, name }: FieldPlan, hints: ReadonlyMap<string, CacheHint>): CacheHint {
  const type = hints.get(getNamedType(definition.type).name);
  const field = hints.get(`${parentType.name}.${name}`);
  return { ...type, ...field };
}

/** The value of `Cache-Control`; `undefined` when nothing may be kept. */
export function cacheControl({ maxAge, scope }: CachePolicy): string | undefined {
  return maxAge > 0 ? `max-age=${maxAge}, ${scope}` : undefined;
}
