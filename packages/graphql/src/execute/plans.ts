import { Kind, visit, type VariableValues } from 'graphql';
import type { Operation } from '../document/documents.ts';
import { refusal, type Refusal } from '../errors/refusal.ts';
import type { Plan, PlanContext } from './field-plan.ts';
import { planOperation } from './plan.ts';

/** Maximum number of plans of one operation, one per combination of its conditions. */
const MAX_VARIANTS = 16;

interface Planned {
  /** Names of the variables of conditions. */
  readonly conditions: readonly string[];
  readonly variants: Map<string, Plan>;
}

/** Returns the plan of an operation for these conditions, or a refusal if a condition is null. */
export function createPlans(
  context: PlanContext,
): (operation: Operation, variables?: VariableValues) => Plan | Refusal {
  const planned = new WeakMap<Operation, Planned>();
  return (operation, variables) => {
    let known = planned.get(operation);
    if (!known) planned.set(operation, (known = { conditions: conditionsOf(operation), variants: new Map() }));
    const open = known.conditions.find((name) => variables?.coerced[name] === null);
    if (open !== undefined) return refusal('ERR_GRAPHQL_VARIABLES', `Variable "$${open}" of a condition is null.`);
    const key = known.conditions.length === 0 ? '' : keyOf(known.conditions, variables);
    const plan = known.variants.get(key);
    if (plan) return plan;
    if (known.variants.size >= MAX_VARIANTS) known.variants.clear();
    const made = planOperation(operation, context, variables && onlyOf(variables, known.conditions));
    known.variants.set(key, made);
    return made;
  };
}

function keyOf(conditions: readonly string[], variables: VariableValues | undefined): string {
  return conditions.map((name) => (variables?.coerced[name] === true ? '1' : '0')).join('');
}

/** Other variables may be large, and a plan keeps them. */
function onlyOf({ coerced, sources }: VariableValues, names: readonly string[]): VariableValues {
  const only = <T>(all: Readonly<Record<string, T>>): Record<string, T> =>
    Object.assign(
      Object.create(null) as Record<string, T>,
      Object.fromEntries(names.flatMap((name) => (name in all ? [[name, all[name]!]] : []))),
    );
  return { coerced: only(coerced), sources: only(sources) };
}

/** Returns the variables of conditions of this operation; others of the document may use the same names. */
function conditionsOf({ document, definition }: Operation): readonly string[] {
  const names = new Set<string>();
  visit(document, {
    OperationDefinition: (node) => (node === definition ? undefined : false),
    Directive({ name, arguments: given }) {
      if (name.value !== 'skip' && name.value !== 'include') return;
      for (const { value } of given ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names];
}
