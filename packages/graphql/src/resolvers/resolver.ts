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
  /** Descriptor sets from elsewhere, as base64. */
  readonly descriptorSets: readonly string[];
  /** Counters of the resolver of this name. */
  countsOf(name: string): ResolverCounts;
}

/** One operation whose fields resolvers give. */
export interface ResolverRun {
  readonly facts: Facts;
  readonly operation: `${OperationTypeNode}`;
  /** How requests to upstreams are tried again. */
  readonly retries?: RetryPolicy | undefined;
  readonly calls: Calls;
  /** What its calls are part of, in traces; `undefined` where nobody traces. */
  readonly trace: Context | undefined;
}

/** Gives the value of a field. */
export type Resolve = (parent: unknown, args: Readonly<Record<string, unknown>>, run: ResolverRun) => unknown;

/** A compiled resolution. */
export interface Resolver {
  readonly resolve: Resolve;
  /** Results differ by client: no other client may get them from a cache. */
  readonly usesClient: boolean;
}

/** What the expressions of a field read. */
export function rootsOf(parent: unknown, args: unknown, { facts }: ResolverRun): Roots {
  return { parent, args, client: facts };
}

/** Longest time of a request when neither resolver nor upstream says one, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 1000;
