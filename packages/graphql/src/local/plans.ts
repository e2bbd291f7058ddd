import { Kind, visit, type VariableValues } from 'graphql';
import type { Operation } from '../api.ts';
import { planOperation, type Children, type PlanContext, type Selection } from '../execute/plan.ts';
import { refusal, type Refusal } from '../refusal.ts';
import { cachePolicy, type CachePolicy } from './cache-policy.ts';
import type { CacheHint } from './schema.ts';

/** An operation ready to run. */
export interface Plan {
  readonly selection: Selection;
  /** Private where the result differs by client, whatever is declared. */
  readonly policy: CachePolicy;
}

/** Plans kept for one operation: one for each way its conditions turn out. */
const MAX_VARIANTS = 16;

interface Planned {
  /** Variables that decide about fields. */
  readonly conditions: readonly string[];
  readonly variants: Map<string, Plan>;
}

/** What plans need beside the schema. */
export interface PlansOptions {
  readonly context: PlanContext;
  readonly cacheHints: ReadonlyMap<string, CacheHint>;
  /** Whether the resolver of a field, `Type.field`, reads what clients send beside document and variables. */
  usesClient(place: string): boolean;
}

/**
 * Gives the plan of an operation: made once, and again where conditions turn out differently. A condition that is null, as one
 * with a default may be, decides nothing: then it gives the refusal.
 */
export function createPlans(
  options: PlansOptions,
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
    const made = makePlan(operation, variables && onlyOf(variables, known.conditions), options);
    known.variants.set(key, made);
    return made;
  };
}

function keyOf(conditions: readonly string[], variables: VariableValues | undefined): string {
  return conditions.map((name) => (variables?.coerced[name] === true ? '1' : '0')).join('');
}

/** The others may be large, and a plan keeps what it gets. */
function onlyOf({ coerced, sources }: VariableValues, names: readonly string[]): VariableValues {
  const only = <T>(all: Readonly<Record<string, T>>): Record<string, T> =>
    Object.assign(
      Object.create(null) as Record<string, T>,
      Object.fromEntries(names.flatMap((name) => (name in all ? [[name, all[name]!]] : []))),
    );
  return { coerced: only(coerced), sources: only(sources) };
}

function makePlan(operation: Operation, variables: VariableValues | undefined, options: PlansOptions): Plan {
  const selection = planOperation(operation, options.context, variables);
  const policy = cachePolicy(selection, options.cacheHints);
  if (policy.maxAge === 0) return { selection, policy };
  const usesClient = anyField(selection, ({ parentType, name }) => options.usesClient(`${parentType.name}.${name}`));
  return { selection, policy: usesClient ? { ...policy, scope: 'private' } : policy };
}

/** Selections that stand in many places are looked at once. */
function anyField(selection: Selection, test: (field: Selection[number]) => boolean): boolean {
  const seen = new Set<Selection | Children>();
  const isNew = (place: Selection | Children): boolean => !seen.has(place) && seen.add(place).size > 0;
  const found = (fields: Selection): boolean =>
    isNew(fields) && fields.some((field) => test(field) || (isNew(field.children) && below(field.children)));
  const below = (children: Children): boolean => children.all().some(found);
  return found(selection);
}

/** The variables of its conditions; other operations of the document may name theirs the same. */
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
