import type { ClusterService } from '../contract/cluster-services.ts';
import type { Problem } from './problem.ts';
import type { Resource, ResourceKey } from './resource.ts';
import type { ServiceSpec } from '../schema/upstream/service-spec.ts';

/** An observation about a resource at run time. An error does not remove the resource from use. */
export type ObservedProblem = Pick<Problem, 'severity' | 'path' | 'message' | 'cause'> & Partial<Pick<Problem, 'code'>>;

/** Observations about a resource besides its text, e.g. from the server that it names. */
export interface Observed {
  readonly problems: readonly ObservedProblem[];
  /** Part of the status, in every state. */
  readonly notes: readonly string[];
  /** Schema definition of the server of a GraphQLApi that declares none. */
  readonly serverSchema?: string;
  /** Descriptor set as base64 in the file that a GraphQLApi names. */
  readonly descriptorSet?: string;
  /** Functions of the server of an Upstream. Those in its text replace them. */
  readonly functions?: ServiceSpec;
  /** Number of replacements of the files that it names; each one is a new revision of the state. */
  readonly filesRevision?: number;
}

/**
 * The state of one resource. The same object until it changes, so that readers can compare by identity.
 */
export interface StoredResource {
  readonly key: ResourceKey;
  /** The version in use: the newest if it is valid, else the last good one; `undefined` if there never was one. */
  readonly resource: Resource | undefined;
  /** True if `resource` is an older version, or a part of the newest, because that was rejected. */
  readonly stale: boolean;
  /** True if `resource` is the valid rest of rejected Settings that were never good. */
  readonly partial?: true;
  /** Problems of the newest version: errors (then it was rejected) and warnings (e.g. an unsupported field). */
  readonly issues: readonly Problem[];
  /** The document of a resource without a good version, without secret values; missing if it cannot be read. */
  readonly written?: object;
  /** True for a rejected virtual service with TLS. */
  readonly asksForTls?: true;
  /** Observations; their problems are among the issues. */
  readonly observed?: Observed;
}

/** The resources at one revision. */
export interface StoreState {
  /** Number of applied changes, from 1. */
  readonly revision: number;
  readonly stored: ReadonlyMap<ResourceKey, StoredResource>;
  /** Those of `stored` with issues, and those whose document was rejected. */
  readonly faulty: StoreState['stored'];
  /** Problems of documents without a key: no kind, no name, unreadable. */
  readonly unfiled: readonly Problem[];
  /** The Services of the cluster by `<namespace>/<name>`; missing without a cluster. */
  readonly services?: ReadonlyMap<string, ClusterService>;
}
