import type { Facts, RetryPolicy } from '@edge-gateway/core';
import type { GraphQLFormattedError, GraphQLSchema } from 'graphql';
import type { Operation } from '../document/documents.ts';
import type { CallBudget } from '../resolvers/calls.ts';

/** A request to execute one operation. */
export interface OperationRequest {
  readonly operation: Operation;
  /** As sent by the client, not coerced. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: Readonly<Record<string, unknown>>;
  /** Facts of the HTTP request: headers, canonical path, metadata, request id. */
  readonly facts: Facts;
  /** Aborted when the client disconnects or the operation times out. */
  readonly signal: AbortSignal;
  /** True if the request identifies its client: its result is private, unless the schema declares it public. */
  readonly personal?: boolean | undefined;
  /** Retries of requests to upstreams. */
  readonly retries?: RetryPolicy | undefined;
  /** Budget of requests to upstreams, if the operation is part of another one. Default: its own budget. */
  readonly budget?: CallBudget | undefined;
}

/** An error as sent to the client, without internals. */
export type ResultError = GraphQLFormattedError;

/** The result of one operation. Without `data` the request was rejected (GraphQL, "request error"). */
export interface ApiResult {
  readonly data?: unknown;
  readonly errors?: readonly ResultError[];
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** Value of `Cache-Control`. */
  readonly cacheControl?: string;
  /** How long the result may be cached for all clients: it depends on document and variables only. */
  readonly sharedForSeconds?: number;
  /** True if the schema declares it public: it may be returned to identified clients, too. */
  readonly declaredPublic?: true;
}

/**
 * An API that executes operations: locally, on a remote server, or over several APIs. `execute` never rejects for failures of a
 * backend: those are errors in the result.
 */
export interface ExecutableApi {
  /** The schema for clients; another object after a change. */
  readonly schema: GraphQLSchema;
  /** Resolves when `schema` is known; missing if it is known from the start. Rejects with a `GatewayError`. */
  ready?(facts: Facts): Promise<void> | undefined;
  /** True if introspection is enabled. */
  readonly introspection: boolean;
  execute(request: OperationRequest): ApiResult | Promise<ApiResult>;
  /** Missing if the API has no subscriptions. */
  subscribe?(request: OperationRequest): Promise<AsyncIterable<ApiResult> | ApiResult>;
  close?(): void | Promise<void>;
}
