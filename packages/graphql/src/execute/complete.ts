import { ExactNumber } from '@edge-gateway/core';
import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  defaultTypeResolver,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  type GraphQLAbstractType,
  type GraphQLEnumType,
  type GraphQLLeafType,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { integerText, isDeeper, isRecord, plainNumber } from '../document/json.ts';
import { FieldFailure } from '../errors/field-failure.ts';
import { completeFields } from './execute.ts';
import type { Children, Complete, FieldPlan, Place, PlanContext } from './field-plan.ts';
import { collect, collectAsync } from './iterables.ts';
import { isThenable } from './ignore-rejections.ts';
import { completeList, type ItemType } from './list.ts';
import { infoOf } from './resolve.ts';

interface CompletionContext extends Pick<PlanContext, 'schema' | 'values'> {
  readonly children: Children;
}

/** Compiles how values of a nullable type are completed; null stays null. */
export function completionOf(type: GraphQLOutputType, context: CompletionContext): Complete {
  if (context.values === 'json') return jsonOf(type, context);
  const complete = anyOf(type, context);
  return (value, field, place) => {
    if (value === null || value === undefined) return null;
    if (value instanceof Error) throw value;
    return complete(value, field, place);
  };
}

function jsonOf(type: GraphQLOutputType, context: CompletionContext): Complete {
  if (isListType(type)) return listOf(type.ofType as GraphQLOutputType, context);
  const { children } = context;
  if (isObjectType(type)) return (value, _field, place) => objectOf(value, type, children, place);
  if ('getFields' in type || 'getTypes' in type) {
    return (value, _field, place) => {
      if (value === null || value === undefined) return null;
      return objectOf(value, typeOf(value, type as GraphQLAbstractType, context.schema), children, place);
    };
  }
  return sizedLeaf(type as GraphQLNamedOutputType);
}

/** Checks leaves. Those of custom scalars may be large. */
function sizedLeaf(type: GraphQLNamedOutputType): Complete {
  const leaf = leafOf(type);
  if (isEnumType(type) || isSpecifiedScalarType(type)) return leaf;
  return (value, _field, { run }) => {
    const fitting = leaf(value);
    if (typeof fitting === 'object') run.size.addJson(fitting);
    return fitting;
  };
}

function objectOf(value: unknown, type: GraphQLObjectType, children: Children, place: Place): unknown {
  if (value === null || value === undefined) return null;
  if (!isRecord(value)) throw mismatch(type.name);
  return completeFields(children.of(type), value, place);
}

/** Completes what GraphQL.js accepts: `isTypeOf`, `resolveType`, iterables, converted leaves. The value is never null. */
function anyOf(type: GraphQLOutputType, context: CompletionContext): Complete {
  if (isListType(type)) return iterableOf(type.ofType as GraphQLOutputType, context);
  const { children, schema } = context;
  if (isObjectType(type)) return (value, field, place) => testedObject(value, { type, children, field, place });
  if (isLeafType(type)) return convertedLeaf(type);
  const abstract = type as GraphQLAbstractType;
  const resolveType = abstract.resolveType ?? defaultTypeResolver;
  return (value, field, place) => {
    const completeAs = (name: unknown): unknown => {
      const found = typeof name === 'string' ? schema.getType(name) : undefined;
      if (!isObjectType(found) || !schema.isSubType(abstract, found)) throw mismatch(abstract.name);
      return testedObject(value, { type: found, children, field, place });
    };
    const name = resolveType(value, place.run.options.context, infoAt(field, place), abstract);
    return isThenable(name) ? Promise.resolve(name).then(completeAs) : completeAs(name);
  };
}

interface TypedObject {
  readonly type: GraphQLObjectType;
  readonly children: Children;
  readonly field: FieldPlan;
  readonly place: Place;
}

function testedObject(value: unknown, { type, children, field, place }: TypedObject): unknown {
  if (!type.isTypeOf) return completeFields(children.of(type), value, place);
  const complete = (isOfType: boolean): unknown => {
    if (!isOfType) throw mismatch(type.name);
    return completeFields(children.of(type), value, place);
  };
  const isOfType = type.isTypeOf(value, place.run.options.context, infoAt(field, place));
  return isThenable(isOfType) ? Promise.resolve(isOfType).then(complete) : complete(isOfType);
}

/** Returns the info of the field whose value, or an item of it, is at this place. */
function infoAt(field: FieldPlan, { path, run }: Place): GraphQLResolveInfo {
  let at = path!;
  while (typeof at.key === 'number') at = at.prev!;
  return infoOf(field, run, at);
}

function iterableOf(type: GraphQLOutputType, context: CompletionContext): Complete {
  const complete = listOf(type, context);
  return (value, field, place) => {
    if (Array.isArray(value) || typeof value !== 'object') return complete(value, field, place);
    if (Symbol.asyncIterator in value!) {
      return collectAsync(value as AsyncIterable<unknown>, place.run).then((items) => complete(items, field, place));
    }
    if (!(Symbol.iterator in value!)) return complete(value, field, place);
    return complete(collect(value as Iterable<unknown>, place.run), field, place);
  };
}

/** Returns the type of a JSON value of an interface or union: that of `__typename`, or the only possible one. */
export function typeOf(value: unknown, type: GraphQLAbstractType, schema: GraphQLSchema): GraphQLObjectType {
  const name = typeof value === 'object' ? (value as { readonly __typename?: unknown }).__typename : undefined;
  const possible = name === undefined ? schema.getPossibleTypes(type) : [];
  const found = typeof name === 'string' ? schema.getType(name) : possible.length === 1 ? possible[0] : undefined;
  if (!isObjectType(found) || !schema.isSubType(type, found)) throw mismatch(type.name);
  return found;
}

function listOf(type: GraphQLOutputType, context: CompletionContext): Complete {
  const inner = getNullableType(type) as GraphQLOutputType;
  const complete = completionOf(inner, context);
  const item: ItemType = {
    complete: context.values === 'json' ? complete : settling(complete),
    nullable: !isNonNullType(type),
  };
  return (value, field, place) => {
    if (value === null || value === undefined) return null;
    if (!Array.isArray(value)) throw mismatch('a list');
    return completeList(value, item, field, place);
  };
}

/** Items may be promises. */
function settling(complete: Complete): Complete {
  return (value, field, place) =>
    isThenable(value)
      ? Promise.resolve(value).then((settled) => complete(settled, field, place))
      : complete(value, field, place);
}

/** Creates the failure of a value of the wrong type. Clients do not see the reason, which may contain the value. */
export function mismatch(expected: string, reason?: string): Error {
  const shown = `The value is not of type ${expected}.`;
  return new FieldFailure(reason ?? shown, { shown });
}

const isInt32 = (value: unknown): boolean => Number.isInteger(value) && (value as number) === ((value as number) | 0);

const SCALARS = new Map<GraphQLNamedOutputType, (value: unknown) => boolean>([
  [GraphQLString, (value) => typeof value === 'string'],
  [GraphQLBoolean, (value) => typeof value === 'boolean'],
  [GraphQLInt, isInt32],
  // JSON cannot represent infinite numbers: they would be null.
  [GraphQLFloat, Number.isFinite],
]);

/** Checks leaves without conversion, except for an integer as an ID. */
export function leafOf(type: GraphQLNamedOutputType): (value: unknown) => unknown {
  if (type.name === GraphQLID.name) return idOf;
  const fits = isEnumType(type) ? fitsEnum(type) : SCALARS.get(type);
  if (!fits) return customOf(type.name);
  return (given) => {
    if (given === null || given === undefined) return null;
    const value = typeof given === 'object' ? plainNumber(given) : given;
    if (!fits(value)) throw mismatch(type.name);
    return value;
  };
}

/** Maximum nesting of a value of a custom scalar: much deeper ones cannot be serialized as JSON. */
const MAX_DEPTH = 1000;

function customOf(name: string): (value: unknown) => unknown {
  return (value) => {
    if (typeof value === 'object' && value !== null && isDeeper(value, MAX_DEPTH)) throw mismatch(name);
    return value ?? null;
  };
}

/** Converts leaves with their type, unless they already fit. */
function convertedLeaf(type: GraphQLLeafType): Complete {
  const fits = type === GraphQLID ? (value: unknown) => typeof value === 'string' : SCALARS.get(type);
  return (given, _field, { run }) => {
    const value = given instanceof ExactNumber ? exactLeaf(type, given) : given;
    if (fits?.(value)) return value;
    const converted = coerceOutput(type, value);
    if (converted === null || converted === undefined) throw mismatch(type.name);
    if (typeof converted === 'object') {
      if (isDeeper(converted, MAX_DEPTH)) throw mismatch(type.name);
      run.size.addJson(converted);
    }
    return converted;
  };
}

/** Returns a number as its type can represent it. */
function exactLeaf(type: GraphQLLeafType, value: ExactNumber): unknown {
  if (type.name === GraphQLID.name) return integerText(value);
  return isSpecifiedScalarType(type) ? plainNumber(value) : value;
}

function coerceOutput(type: GraphQLLeafType, value: unknown): unknown {
  try {
    return type.coerceOutputValue(value);
  } catch (error) {
    throw mismatch(type.name, error instanceof Error ? error.message : String(error));
  }
}

function fitsEnum(type: GraphQLEnumType): (value: unknown) => boolean {
  const names = new Set(type.getValues().map(({ name }) => name));
  return (value) => names.has(value as string);
}

function idOf(value: unknown): unknown {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return null;
  if (Number.isSafeInteger(value)) return String(value as number);
  const digits = integerText(value);
  if (typeof digits === 'string') return digits;
  throw mismatch('ID');
}
