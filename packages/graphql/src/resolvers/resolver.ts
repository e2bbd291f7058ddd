import type { CallUpstream, ResourceRef, Secrets, SnapshotUpstream } from '@edge-gateway/core';
import type { Roots } from '../expression.ts';
import type { Run } from '../execute/run.ts';
import type { ResolveField } from '../execute/plan.ts';
import type { Limits } from '../limits.ts';
import type { ResolverCounts } from '../statistics.ts';

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
  /** Directory of descriptor files; `undefined` for none. */
  readonly filesRoot: string | undefined;
  /** Counters of the resolver of this name. */
  countsOf(name: string): ResolverCounts;
}

/** A compiled resolution. */
export interface Resolver {
  readonly resolve: ResolveField;
  /** Results differ by client: no other client may get them from a cache. */
  readonly usesClient: boolean;
}

/** What the expressions of a field read. */
export function rootsOf(parent: unknown, args: unknown, { request }: Run): Roots {
  return { parent, args, client: request.facts };
}

/** Longest time of a request when neither resolver nor upstream says one, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 1000;
