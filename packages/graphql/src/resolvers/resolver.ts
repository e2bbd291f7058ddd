import {
  parseDuration,
  type CallUpstream,
  type Facts,
  type ResourceRef,
  type RetryPolicy,
  type Secrets,
  type SnapshotUpstream,
} from '@edge-gateway/core';
import type { CallTrace } from '../observe/span.ts';
import type { OperationTypeNode } from 'graphql';
import type { Roots } from '../template/expression.ts';
import type { Limits } from '../document/limits.ts';
import type { ResolverCounts } from '../observe/statistics.ts';
import type { Calls } from './calls.ts';

export interface ResolverContext {
  readonly namespace: string;
  readonly callUpstream: CallUpstream;
  /** An upstream as the snapshot has it; missing in library use. */
  readonly findUpstream: ((ref: ResourceRef) => SnapshotUpstream | undefined) | undefined;
  readonly secrets: Secrets;
  readonly limits: Limits;
  /** Descriptor sets from ConfigMaps and files, as base64. */
  readonly descriptorSets: readonly string[];
  countsOf(name: string): ResolverCounts;
}

/** One operation that resolvers belong to. */
export interface ResolverRun {
  readonly facts: Facts;
  readonly operation: `${OperationTypeNode}`;
  readonly retries?: RetryPolicy | undefined;
  readonly calls: Calls;
  /** Parent of its calls in traces; `undefined` without tracing. */
  readonly trace: CallTrace | undefined;
}

export type Resolve = (parent: unknown, args: Readonly<Record<string, unknown>>, run: ResolverRun) => unknown;

export interface Resolver {
  readonly resolve: Resolve;
  /** True if results depend on the client: they must not be cached for others. */
  readonly usesClient: boolean;
}

export function rootsOf(parent: unknown, args: unknown, { facts }: ResolverRun): Roots {
  return { parent, args, client: facts };
}

const DEFAULT_TIMEOUT_MS = 1000;

/** Returns the upstream of a resolver. Throws an `Error` if it names none. */
export function upstreamOf(
  written: { readonly name?: string; readonly namespace?: string } | undefined,
  { namespace }: Pick<ResolverContext, 'namespace'>,
): ResourceRef {
  if (!written?.name) throw new Error('upstreamRef must name an upstream');
  return { name: written.name, namespace: written.namespace || namespace };
}

/** Returns the timeout: the resolver's own, else the connect timeout of its upstream, else 1 s. */
export function timeoutFinder(
  written: string | undefined,
  upstream: ResourceRef,
  { findUpstream }: Pick<ResolverContext, 'findUpstream'>,
): () => number {
  const own = written === undefined ? 0 : parseDuration(written);
  if (own > 0) return () => own;
  return () => {
    const connect = findUpstream?.(upstream)?.spec.connectionConfig?.connectTimeout;
    return connect === undefined ? DEFAULT_TIMEOUT_MS : parseDuration(connect) || DEFAULT_TIMEOUT_MS;
  };
}
