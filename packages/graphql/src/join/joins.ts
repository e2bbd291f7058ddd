import { isObjectType, Kind, parse, type GraphQLField } from 'graphql';
import type { DeclaredSubschema } from './subschema.ts';

/** How one subschema completes a type by its key. */
export interface Join {
  readonly subschema: number;
  readonly keys: readonly string[];
  readonly field: GraphQLField<unknown, unknown>;
  /** Returns true if the subschema has this field of the type. */
  gives(field: string): boolean;
  /** Returns the arguments of the root field for these key values. */
  args(keys: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

/** Joins by type name, in the order of the subschemas. */
export type Joins = ReadonlyMap<string, readonly Join[]>;

/** Compiles every `typeMerge`. Throws an `Error` that names an invalid one. */
export function compileJoins(subschemas: readonly DeclaredSubschema[]): Joins {
  const joins = new Map<string, Join[]>();
  for (const [index, { name, api, typeMerge }] of subschemas.entries()) {
    for (const [type, merge] of Object.entries(typeMerge ?? {})) {
      const place = `${name}: typeMerge.${type}`;
      const own = api.schema.getType(type);
      if (!isObjectType(own)) throw new Error(`${place}: this API has no such type`);
      const field = api.schema.getQueryType()?.getFields()[merge.queryName ?? ''];
      if (!field) throw new Error(`${place}: queryName '${merge.queryName ?? ''}' is not a query of this API`);
      const keys = keysOf(merge.selectionSet ?? '', place);
      const setters = settersOf(merge.args ?? {}, field, place);
      for (const [, from] of setters) {
        if (!keys.includes(from[0]!)) throw new Error(`${place}: '${from.join('.')}' is not in selectionSet`);
      }
      const list = joins.get(type) ?? [];
      joins.set(type, list);
      const fields = own.getFields();
      list.push({
        subschema: index,
        keys,
        field,
        gives: (each) => Object.hasOwn(fields, each),
        args: (values) => fill(setters, values),
      });
    }
  }
  return joins;
}

/** Returns the join that completes an object with a field, other than `not`; `undefined` if there is none. */
export function joinFor(
  joins: Joins,
  { type, field }: { readonly type: string; readonly field: string },
  not?: Join,
): Join | undefined {
  return (joins.get(type) ?? []).find((each) => each !== not && each.gives(field));
}

function keysOf(selectionSet: string, place: string): string[] {
  const [definition] = parse(selectionSet, { noLocation: true }).definitions;
  if (definition?.kind !== Kind.OPERATION_DEFINITION)
    throw new Error(`${place}: selectionSet must be a selection such as { id }`);
  return definition.selectionSet.selections.map((selection) => {
    if (selection.kind === Kind.FIELD && !selection.alias && !selection.selectionSet) return selection.name.value;
    throw new Error(`${place}: selectionSet must contain plain fields only`);
  });
}

type Setter = readonly [to: readonly string[], from: readonly string[]];

function settersOf(
  args: Readonly<Record<string, string>>,
  field: GraphQLField<unknown, unknown>,
  place: string,
): Setter[] {
  const setters = Object.entries(args).map(([to, from]): Setter => [to.split('.'), from.split('.')]);
  for (const [[name]] of setters) {
    if (!field.args.some((arg) => arg.name === name))
      throw new Error(`${place}: ${field.name} has no argument '${name}'`);
  }
  if (setters.length === 0) throw new Error(`${place}: args must map an argument to a key field`);
  return setters;
}

function fill(setters: readonly Setter[], values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const args: Record<string, unknown> = {};
  for (const [to, from] of setters) {
    let at = args;
    for (const step of to.slice(0, -1)) at = (at[step] ??= {}) as Record<string, unknown>;
    at[to.at(-1)!] = from.reduce<unknown>((value, step) => (value as Record<string, unknown> | null)?.[step], values);
  }
  return args;
}

/** Returns the keys that one subschema must provide so that another can complete a type, directly or over a third. */
export function keysNeeded(
  type: string,
  join: Join,
  { joins, has }: { readonly joins: Joins; has(field: string): boolean },
  visited: ReadonlySet<Join> = new Set(),
): string[] {
  return join.keys.flatMap((key) => {
    if (has(key)) return [key];
    const others = (joins.get(type) ?? []).filter((each) => each !== join && !visited.has(each));
    return others.flatMap((other) => keysNeeded(type, other, { joins, has }, new Set([...visited, join])));
  });
}
