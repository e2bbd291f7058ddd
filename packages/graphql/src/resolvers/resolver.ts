import type { CallUpstream, Facts, ResourceRef, RetryPolicy, Secrets, SnapshotUpstream } from '@edge-gateway/core';
import type { Context } from '@opentelemetry/api';
import type { OperationTypeNode } from 'graphql';
import type { Roots } from '../template/expression.ts';
import type { Limits } from '../api/limits.ts';
import type { ResolverCounts } from '../api/statistics.ts';
import type { Calls } from './calls.ts';

/** What resolvers are compiled with. */
export interface ResolverContext {
  /** Namespace of references without one. */
  readonly namespace: string;
  readonly callUpstream: CallUpstream;
  /** An upstream as the snapshot has it; missing in library use. */
  readonly findUpstream: ((ref: ResourceRef) => SnapshotUpstream | undefined) | undefined;
  readonly secrets: Secrets;
  readonly limits: Limits;
  /** Descriptor sets from ConfigMaps and files, as base64. */
  readonly descriptorSets: readonly string[];
  /** Counters of the resolver of this name. */
  countsOf(name: string): ResolverCounts;
}

/** One operation that resolvers take part in. */
export interface ResolverRun {
  readonly facts: Facts;
  readonly operation: `${OperationTypeNode}`;
  /** Retries of requests to upstreams. */
  readonly retries?: RetryPolicy | undefined;
  readonly calls: Calls;
  /** Parent of its calls in traces; `undefined` without tracing. */
  readonly trace: Context | undefined;
}

/** Returns the value of a field. */
export type Resolve = (parent: unknown, args: Readonly<Record<string, unknown>>, run: ResolverRun) => unknown;

/** A compiled resolution. */
export interface Resolver {
  readonly resolve: Resolve;
  /** True if results depend on the client: they must not be cached for others. */
  readonly usesClient: boolean;
}

/** Returns the values that expressions of a field read. */
export function rootsOf(parent: unknown, args: unknown, { facts }: ResolverRun): Roots {
  return { parent, args, client: facts };
}

/** Default timeout of a request, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 1000;
