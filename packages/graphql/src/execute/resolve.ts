import type { GraphQLFieldResolver, GraphQLResolveInfo, VariableValues } from 'graphql';
import { pathTo } from './errors.ts';
import type { FieldPlan, Path, ResolveField, Run } from './field-plan.ts';
import { ignoreRejections, isThenable } from './ignore-rejections.ts';

/** Converts a resolver of GraphQL.js to one of plans. */
export function standardResolver(resolve: GraphQLFieldResolver<unknown, unknown>): ResolveField {
  return (source, args, { path, run }, field) =>
    settled(resolve(source, ownArgs(args), run.options.context, infoOf(field, run, pathTo(field, path))));
}

/** Reads a field without a resolver as GraphQL.js does: a property, or the result of a method. */
export const readProperty: ResolveField = (source, args, { path, run }, field) => {
  if ((typeof source !== 'object' || source === null) && typeof source !== 'function') return undefined;
  const value = (source as Readonly<Record<string, unknown>>)[field.name];
  if (typeof value === 'object') return settled(value);
  if (typeof value !== 'function') return value;
  return settled(value.call(source, ownArgs(args), run.options.context, infoOf(field, run, pathTo(field, path))));
};

/** Resolvers may change their arguments, but the empty ones are shared. */
function ownArgs(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.isFrozen(args) ? {} : args;
}

const NO_VARIABLES: VariableValues = { sources: Object.create(null), coerced: Object.create(null) };
const ASYNC_HELPERS: ReturnType<GraphQLResolveInfo['getAsyncHelpers']> = {
  promiseAll: (values) => Promise.all(values),
  track: (values) => values.forEach(ignoreRejections),
};
const getAsyncHelpers = (): typeof ASYNC_HELPERS => ASYNC_HELPERS;

/** Creates the info argument of a resolver. */
export function infoOf({ definition, nodes, parentType, name }: FieldPlan, run: Run, path: Path): GraphQLResolveInfo {
  const { plan, operation, variables, options } = run;
  return {
    fieldName: name,
    fieldNodes: nodes,
    returnType: definition.type,
    parentType,
    path,
    schema: plan.schema,
    fragments: plan.fragments,
    rootValue: options.rootValue,
    operation: operation.definition,
    variableValues: variables ?? NO_VARIABLES,
    getAbortSignal: () => options.signal,
    getAsyncHelpers,
  };
}

function settled(value: unknown): unknown {
  return isThenable(value) && !(value instanceof Promise) ? Promise.resolve(value) : value;
}
