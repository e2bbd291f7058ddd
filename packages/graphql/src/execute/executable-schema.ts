import type { Facts } from '@edge-gateway/core';
import { makeExecutableSchema } from '@graphql-tools/schema';
import {
  GraphQLError,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  responsePathAsArray,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLNamedOutputType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { leafOf, mismatch, typeOf } from './complete.ts';
import { keyOf } from '../template/expression.ts';
import { nonNullViolation, shownExtensions, shownMessage } from './errors.ts';
import { isRecord } from '../document/json.ts';
import type { Limits } from '../document/limits.ts';
import type { Resolve } from '../resolvers/resolver.ts';
import type { Failure } from '../observe/failure-log.ts';
import { createForeignRuns, type RunOf } from './external-execution.ts';

export interface ResolverParts {
  /** Returns the resolver of a field; `undefined` reads the key of the parent. */
  resolverOf(type: string, field: string): Resolve | undefined;
  readonly limits: Limits;
  /** Receives each failure, with the reason that clients do not see. */
  onFailure(facts: Facts, failure: Failure): void;
}

type Standard = GraphQLFieldResolver<unknown, unknown>;

/** Adds resolvers in place, so that any server can execute the schema with the same results and errors as the API. */
export function addResolvers(schema: GraphQLSchema, parts: ResolverParts): GraphQLSchema {
  const resolvers: Record<string, Record<string, Standard | TypeResolver>> = {};
  const runOf = createForeignRuns(parts.limits);
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isAbstractType(type)) resolvers[type.name] = { __resolveType: typeResolver(type, schema) };
    if (!isObjectType(type)) continue;
    const fields = Object.values(type.getFields());
    resolvers[type.name] = Object.fromEntries(
      fields.map((field) => {
        const resolve = parts.resolverOf(type.name, field.name);
        const place: FieldParts = { type: type.name, field, parts, runOf };
        return [field.name, resolverOf(resolve, place)];
      }),
    );
  }
  return makeExecutableSchema({ typeDefs: schema, resolvers, updateResolversInPlace: true });
}

type TypeResolver = (value: unknown) => string;

function typeResolver(type: GraphQLAbstractType, schema: GraphQLSchema): TypeResolver {
  return (value) => {
    try {
      return typeOf(value, type, schema).name;
    } catch (error) {
      throw shown(error);
    }
  };
}

interface FieldParts {
  readonly type: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly parts: ResolverParts;
  readonly runOf: RunOf;
}

/** Calls a resolver of the API, or reads the own key of the parent, never an inherited one. */
function resolverOf(resolve: Resolve | undefined, { type, field, parts, runOf }: FieldParts): Standard {
  const fit = fitterOf(field, type);
  return (parent, args, context, info) => {
    const fail = (error: unknown): never => {
      parts.onFailure(runOf(context, info).facts, failureOf(error, info));
      throw shown(error);
    };
    try {
      const value = resolve ? resolve(parent, args, runOf(context, info)) : keyOf(parent, field.name);
      return value instanceof Promise ? value.then(fit).catch(fail) : fit(value);
    } catch (error) {
      return fail(error);
    }
  };
}

function failureOf(error: unknown, { path }: GraphQLResolveInfo): Failure {
  return { reason: error instanceof Error ? error.message : String(error), path: responsePathAsArray(path) };
}

/** Returns an error in the form for clients of any server. */
function shown(error: unknown): GraphQLError {
  return new GraphQLError(shownMessage(error), { extensions: shownExtensions(error) });
}

/** Checks values against the type of a field; in a list, invalid items become errors. */
function fitterOf({ name, type }: GraphQLField<unknown, unknown>, parent: string): (value: unknown) => unknown {
  const present = (fit: (value: unknown) => unknown) => (value: unknown) => {
    const fitting = fit(value);
    if (fitting === null) throw nonNullViolation(parent, name);
    return fitting;
  };
  const nullable = (of: GraphQLOutputType): ((value: unknown) => unknown) => {
    if (isLeafType(of)) return leafOf(of);
    return isListType(of) ? listOf(fitter(of.ofType as GraphQLOutputType)) : fitsObject(of as GraphQLNamedOutputType);
  };
  const fitter = (of: GraphQLOutputType): ((value: unknown) => unknown) =>
    isNonNullType(of) ? present(nullable(of.ofType)) : nullable(of);
  return fitter(type);
}

function listOf(fit: (value: unknown) => unknown): (value: unknown) => unknown {
  const fitItem = (item: unknown): unknown => {
    try {
      return fit(item);
    } catch (error) {
      return shown(error);
    }
  };
  return (value) => {
    if (value === null || value === undefined) return null;
    if (!Array.isArray(value)) throw mismatch('a list');
    return value.map(fitItem);
  };
}

function fitsObject({ name }: GraphQLNamedOutputType): (value: unknown) => unknown {
  return (value) => {
    if (value === null || value === undefined) return null;
    if (!isRecord(value)) throw mismatch(name);
    return value;
  };
}
