import { timeoutSignal, type Facts, type Logger } from '@edge-gateway/core';
import {
  createSourceEventStream,
  GraphQLError,
  GraphQLSchema,
  validateSchema,
  validateSubscriptionArgs,
  version,
} from 'graphql';
import { failedResult } from '../errors/failed-result.ts';
import { untilEnded } from './until-ended.ts';
import type { ApiResult, ExecutableApi, OperationRequest, ResultError } from './executable-api.ts';
import type { Limits } from '../document/limits.ts';
import { createEngine, type Executed } from './engine.ts';
import { shownExtensions, shownMessage } from './errors.ts';
import { leaveIterator } from './iterables.ts';
import { readProperty, standardResolver } from './resolve.ts';
import { coerceVariables } from './variables.ts';
import { logFailure, type Failure } from '../observe/failure-log.ts';

/** Returns the third argument of resolvers for an operation. */
export type ContextValue = (request: OperationRequest) => unknown;

export interface SchemaApiOptions {
  readonly contextValue?: ContextValue | undefined;
  readonly enableIntrospection: boolean;
  /** Fields below this depth are null with an error; 0 is no limit. */
  readonly maxDepth: number;
  readonly limits: Pick<Limits, 'maxResultFields' | 'maxResultBytes' | 'operationTimeoutMs'>;
  readonly log: Logger;
  /** Name of the API, for the log. */
  readonly name: string;
}

/** Creates an API of a schema with resolvers. Throws an `Error` if the schema is invalid. */
export function createSchemaApi(given: unknown, options: SchemaApiOptions): ExecutableApi {
  const schema = checkedSchema(given);
  const { maxDepth, limits, enableIntrospection, contextValue = ({ facts, signal }) => ({ facts, signal }) } = options;
  const engine = createEngine({
    schema,
    maxDepth,
    limits,
    values: 'any',
    resolverOf: (_type, { resolve }) => (resolve ? standardResolver(resolve) : readProperty),
  });

  function run(request: OperationRequest, context: unknown, rootValue?: unknown): Executed | Promise<Executed> {
    const { facts, signal } = request;
    const onFailure = (reason: string, path: Failure['path']): void => logFailure(options, facts, { reason, path });
    const { requestId } = facts;
    return engine.execute(request, { rootValue, context, signal, requestId, onFailure });
  }

  /** An event whose fields are not resolved in time is a result, too: the next one may be. */
  async function resultOfEvent(request: OperationRequest, context: unknown, event: unknown): Promise<ApiResult> {
    const signal = AbortSignal.any([request.signal, timeoutSignal(limits.operationTimeoutMs)]);
    const own = { ...request, signal };
    const ended = (): Executed => failedResult('ERR_GRAPHQL_TIMEOUT', request.facts.requestId);
    return resultOf(await untilEnded<Executed>(run(own, context, event), signal, ended));
  }

  function failed(error: unknown, facts: Facts): ResultError {
    const reason = error instanceof Error ? error.message : String(error);
    logFailure(options, facts, { reason, path: [] });
    return { message: shownMessage(error), extensions: { ...shownExtensions(error), requestId: facts.requestId } };
  }

  async function execute(request: OperationRequest): Promise<ApiResult> {
    let context: unknown;
    try {
      context = await contextValue(request);
    } catch (error) {
      return { data: null, errors: [failed(error, request.facts)] };
    }
    return resultOf(await run(request, context));
  }

  async function subscribe(request: OperationRequest): Promise<AsyncIterable<ApiResult> | ApiResult> {
    const variables = coerceVariables(schema, request);
    if (variables && !('coerced' in variables)) return variables;
    const left = new AbortController();
    const own = { ...request, signal: AbortSignal.any([request.signal, left.signal]) };
    const fail = (error: unknown): ApiResult => ({ errors: [failed(error, request.facts)] });
    try {
      const context = await contextValue(own);
      const events = await eventsOf(schema, own, context);
      return mapped(events, {
        map: (event) => resultOfEvent(own, context, event),
        fail,
        leave: () => left.abort(),
      });
    } catch (error) {
      return fail(error);
    }
  }

  return {
    schema,
    introspection: enableIntrospection,
    execute,
    ...(schema.getSubscriptionType() && { subscribe }),
  };
}

function resultOf({ data, errors }: Executed): ApiResult {
  return { ...(data !== undefined && { data }), ...(errors && { errors }) };
}

function checkedSchema(given: unknown): GraphQLSchema {
  if (Object.prototype.toString.call(given) !== '[object GraphQLSchema]') {
    throw new Error('schema must be a GraphQLSchema, e.g. of makeExecutableSchema');
  }
  if (!(given instanceof GraphQLSchema)) {
    throw new Error(`schema belongs to another copy of the package graphql: install version ${version} once`);
  }
  const [problem] = validateSchema(given);
  if (problem) throw new Error(`schema: ${problem.message}`);
  return given;
}

/** Returns the events of a subscription, each the parent of its fields. Rejects with the error of a resolver. */
async function eventsOf(
  schema: GraphQLSchema,
  { operation, variables, signal }: OperationRequest,
  contextValue: unknown,
): Promise<AsyncIterable<unknown>> {
  const { document, definition, name } = operation;
  const operationName = name ?? definition.name?.value;
  const args = validateSubscriptionArgs({
    schema,
    document,
    contextValue,
    operationName,
    variableValues: variables,
    hideSuggestions: true,
    abortSignal: signal,
  });
  if (!('schema' in args)) throw args[0]!;
  const events = await createSourceEventStream(args);
  if (Symbol.asyncIterator in events) return events;
  const [error] = events.errors ?? [];
  throw error?.originalError instanceof GraphQLError ? error : (error?.originalError ?? error);
}

/** Maps events to results. `return` ends a pending `next` immediately. */
function mapped(
  events: AsyncIterable<unknown>,
  {
    map,
    fail,
    leave,
  }: {
    map(event: unknown): Promise<ApiResult>;
    fail(error: unknown): ApiResult;
    leave(): void;
  },
): AsyncIterable<ApiResult> {
  const source = events[Symbol.asyncIterator]();
  const done: IteratorReturnResult<undefined> = { done: true, value: undefined };
  let isOver = false;
  let release: () => void = () => {};

  async function take(): Promise<IteratorResult<ApiResult, undefined>> {
    try {
      const next = await source.next();
      if (!next.done) return { done: false, value: await map(next.value) };
    } catch (error) {
      if (!isOver) {
        isOver = true;
        return { done: false, value: fail(error) };
      }
    }
    isOver = true;
    return done;
  }

  const results: AsyncIterator<ApiResult, undefined> = {
    next: () =>
      new Promise((resolve) => {
        if (isOver) return resolve(done);
        release = () => resolve(done);
        void take().then(resolve);
      }),
    async return() {
      isOver = true;
      release();
      leave();
      // A generator ends only after its next event.
      leaveIterator(source);
      return done;
    },
  };
  return { [Symbol.asyncIterator]: () => results };
}
