import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  getNullableType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLAbstractType,
  type GraphQLEnumType,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';
import { isDeeper } from '../depth.ts';
import { shownFailure } from '../field-failure.ts';
import { completeFields, type Place } from './execute.ts';
import type { Children, FieldPlan } from './plan.ts';
import { Located, note, nothing } from './run.ts';

/**
 * Makes of what a resolver gave what the result has. Throws, or rejects, where it does not fit the type. The place is that of the
 * value; leaves get that of their parent and do without.
 */
export type Complete = (value: unknown, field: FieldPlan, place: Place) => unknown;

export interface Completion {
  readonly complete: Complete;
  readonly nullable: boolean;
}

interface CompletionContext {
  readonly schema: GraphQLSchema;
  readonly children: Children;
}

/** Compiles how values of a type are completed. */
export function compileCompletion(type: GraphQLOutputType, context: CompletionContext): Completion {
  const nullable = !isNonNullType(type);
  const inner = completionOf(getNullableType(type) as GraphQLOutputType, context);
  return { complete: inner, nullable };
}

/** Gives null for null; whether that may be is asked where the value is put. */
function completionOf(type: GraphQLOutputType, context: CompletionContext): Complete {
  if (isListType(type)) return listOf(type.ofType as GraphQLOutputType, context);
  const { children } = context;
  if (isObjectType(type)) return (value, _field, place) => objectOf(value, type, children, place);
  if ('getFields' in type || 'getTypes' in type) {
    return (value, _field, place) => {
      if (value === null || value === undefined) return null;
      return objectOf(value, typeOf(value, type as GraphQLAbstractType, context.schema), children, place);
    };
  }
  return leafOf(type as GraphQLNamedOutputType);
}

function objectOf(value: unknown, type: GraphQLObjectType, children: Children, place: Place): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object' || Array.isArray(value)) throw mismatch(type.name);
  return completeFields(children.of(type), value, place);
}

/** The type of a value behind an interface or union: as `__typename` says, or the only possible one. */
function typeOf(value: unknown, type: GraphQLAbstractType, schema: GraphQLSchema): GraphQLObjectType {
  const name = typeof value === 'object' ? (value as { readonly __typename?: unknown }).__typename : undefined;
  const possible = name === undefined ? schema.getPossibleTypes(type) : [];
  const found = typeof name === 'string' ? schema.getType(name) : possible.length === 1 ? possible[0] : undefined;
  if (!isObjectType(found) || !schema.isSubType(type, found)) throw mismatch(type.name);
  return found;
}

function listOf(type: GraphQLOutputType, context: CompletionContext): Complete {
  const inner = getNullableType(type) as GraphQLOutputType;
  const item: ItemType = { complete: completionOf(inner, context), nullable: !isNonNullType(type) };
  return (value, field, { path, run }) => {
    if (value === null || value === undefined) return null;
    if (!Array.isArray(value)) throw mismatch('a list');
    const out = new Array<unknown>(value.length);
    let waiting = false;
    try {
      for (let i = 0; i < value.length; i++) {
        out[i] = itemOf(value[i], item, field, { path: { before: path, key: i }, run });
        waiting ||= out[i] instanceof Promise;
      }
    } catch (error) {
      // Those before are of no use any more; what they reject with is told to nobody.
      for (const each of out) if (each instanceof Promise) each.catch(() => {});
      throw error;
    }
    return waiting ? Promise.all(out) : out;
  };
}

interface ItemType {
  readonly complete: Complete;
  readonly nullable: boolean;
}

function itemOf(value: unknown, item: ItemType, field: FieldPlan, place: Place): unknown {
  try {
    const done = item.complete(value, field, place);
    if (!(done instanceof Promise)) return presentItem(done, item, field, place);
    return done.then(
      (settled: unknown) => presentItem(settled, item, field, place),
      (error: unknown) => failedItem(error, item, field, place),
    );
  } catch (error) {
    return failedItem(error, item, field, place);
  }
}

function presentItem(value: unknown, { nullable }: ItemType, field: FieldPlan, { path }: Place): unknown {
  if (value === null && !nullable) throw new Located(nothing(field), path!, field);
  return value;
}

function failedItem(error: unknown, { nullable }: ItemType, field: FieldPlan, { path, run }: Place): null {
  const located = error instanceof Located ? error : new Located(error, path!, field);
  if (!nullable) throw located;
  note(run, located);
  return null;
}

function mismatch(expected: string): Error {
  return shownFailure(`The value is not of type ${expected}.`);
}

const isInt32 = (value: unknown): boolean => Number.isInteger(value) && (value as number) === ((value as number) | 0);

const SCALARS = new Map<GraphQLNamedOutputType, (value: unknown) => boolean>([
  [GraphQLString, (value) => typeof value === 'string'],
  [GraphQLBoolean, (value) => typeof value === 'boolean'],
  [GraphQLInt, isInt32],
  // JSON has no text for what is beyond the numbers: it would be null.
  [GraphQLFloat, Number.isFinite],
]);

/** Leaves are taken as they are: nothing is turned into another type, save a whole number into an ID. */
function leafOf(type: GraphQLNamedOutputType): Complete {
  if (type.name === GraphQLID.name) return idOf;
  const fits = isEnumType(type) ? fitsEnum(type) : SCALARS.get(type);
  if (!fits) return anyOf(type.name);
  return (value) => {
    if (value === null || value === undefined) return null;
    if (!fits(value)) throw mismatch(type.name);
    return value;
  };
}

/** Deepest nesting of a value of a scalar that is not GraphQL's own: what is much deeper cannot be written as JSON. */
const MAX_DEPTH = 1000;

function anyOf(name: string): Complete {
  return (value) => {
    if (typeof value === 'object' && value !== null && isDeeper(value, MAX_DEPTH)) throw mismatch(name);
    return value ?? null;
  };
}

function fitsEnum(type: GraphQLEnumType): (value: unknown) => boolean {
  const names = new Set(type.getValues().map(({ name }) => name));
  return (value) => names.has(value as string);
}

function idOf(value: unknown): unknown {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return null;
  if (Number.isSafeInteger(value)) return String(value as number);
  throw mismatch('ID');
}
