import type { ResourceRef } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';

/** What an upstream said of itself. */
export type Probe =
  /** Answer to an introspection query: the value under `data`. */
  | { readonly type: 'graphql'; readonly introspection: unknown }
  /** A parsed OpenAPI document of version 3. */
  | { readonly type: 'openapi'; readonly document: unknown }
  /** A serialised `FileDescriptorSet`, imports included, and the full names of the services to offer. */
  | { readonly type: 'grpc'; readonly descriptorSet: Uint8Array; readonly services: readonly string[] };

/** A part of what the upstream offers that has no place in the GraphQL API. */
export interface Skipped {
  /** E.g. `GET /pets/{id}`, `#/components/schemas/Pet/properties/x-id`, `user.UserService/Watch`. */
  readonly where: string;
  readonly reason: string;
  /** Left out only because there is too much. */
  readonly isCut?: true;
  /** True for a parameter that clients must not set; the operation itself is offered. */
  readonly isWithheld?: true;
}

/** A GraphQL API made of a probe. */
export interface Discovery {
  readonly spec: GraphQLApiSpec;
  /** What was left out, in the order it was met. */
  readonly skipped: readonly Skipped[];
}

/** The upstream that is asked. */
export type UpstreamName = ResourceRef;
