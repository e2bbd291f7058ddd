import type { Facts, RetryPolicy } from '@edge-gateway/core';
import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { CallBudget } from '../resolvers/call-budget.ts';

/**
 * One operation of a document that is valid and within the limits. The same text gives the same object for as long as
 * it is remembered, so that what is made of it (a plan, a rewritten document) can be kept in a `WeakMap` by it.
 */
export interface Operation {
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  /** The document as the client wrote it. */
  readonly text: string;
  /** Name given in the request; `undefined` when the document has one operation and none was named. */
  readonly name: string | undefined;
}

/** One operation as it is asked for. */
export interface OperationRequest {
  readonly operation: Operation;
  /** As the client sent them: not coerced yet. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: Readonly<Record<string, unknown>>;
  /** What is known of the HTTP request: headers, canonical path, metadata, request id. */
  readonly facts: Facts;
  /** Aborted when the client has left or the time is over. */
  readonly signal: AbortSignal;
  /** True if the request identifies its client: its result is private, unless the schema declares it public. */
  readonly personal?: boolean | undefined;
  /** How requests to upstreams are tried again. */
  readonly retries?: RetryPolicy | undefined;
  /** Bound of the requests to upstreams, where the operation is a part of another one. Default: a budget of its own. */
  readonly budget?: CallBudget | undefined;
}

/** An error as the client reads it; never with internals. */
export interface ResultError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** The result of one operation. Without `data` the request itself was refused (GraphQL, "request error"). */
export interface ApiResult {
  readonly data?: unknown;
  readonly errors?: readonly ResultError[];
  readonly extensions?: Readonly<Record<string, unknown>>;
  /** Value of `Cache-Control`; no header without. */
  readonly cacheControl?: string;
  /** Set when the result depends on nothing of the client but document and variables, and may be kept so long. */
  readonly sharedForSeconds?: number;
  /** True if the schema declares it public: it may be returned to identified clients, too. */
  readonly declaredPublic?: true;
}

/**
 * An API that can run operations, wherever it does: here, on a server, over several. `execute` never rejects for what a
 * backend does: that is an error in the result.
 */
export interface ExecutableApi {
  /** What clients see. Another object when it has changed. */
  readonly schema: GraphQLSchema;
  /** To be waited for before `schema` is read, where it is not known from the start. Rejects with a `GatewayError`. */
  ready?(facts: Facts): Promise<void> | undefined;
  /** Answers questions about the schema. */
  readonly introspection: boolean;
  execute(request: OperationRequest): ApiResult | Promise<ApiResult>;
  /** Missing where subscriptions are not offered. */
  subscribe?(request: OperationRequest): Promise<AsyncIterable<ApiResult> | ApiResult>;
  close?(): void | Promise<void>;
}
