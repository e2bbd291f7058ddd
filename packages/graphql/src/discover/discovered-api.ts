import type { GraphQLApiSpec } from '@edge-gateway/core/schema';

/** The description that an upstream provides of itself. */
export type Probe =
  /** Result of an introspection query: the value of `data`. */
  | { readonly type: 'graphql'; readonly introspection: unknown }
  /** A parsed document of OpenAPI 3 or Swagger 2. */
  | { readonly type: 'openapi'; readonly document: unknown }
  /** A serialised `FileDescriptorSet`, imports included, and the full names of the services to offer. */
  | { readonly type: 'grpc'; readonly descriptorSet: Uint8Array; readonly services: readonly string[] };

/** A part of the upstream that is not in the GraphQL API, or that is no function. */
export interface Skipped {
  /** E.g. `GET /pets/{id}`, `#/components/schemas/Pet/properties/x-id`, `user.UserService/Watch`. */
  readonly where: string;
  readonly reason: string;
  /** True if it is left out only because of a limit. */
  readonly isCut?: true;
  /** True for a parameter that clients must not set; the operation itself is offered. */
  readonly isWithheld?: true;
}

/** A GraphQL API created from a probe. */
export interface Discovery {
  readonly spec: GraphQLApiSpec;
  /** Omitted parts, in the order of the description. */
  readonly skipped: readonly Skipped[];
}

/** Maximum size of the schema of one upstream: converting a larger one would block the process, at every poll. */
export interface DiscoveryBounds {
  /** Operations of an OpenAPI document, methods of gRPC services. */
  readonly operations: number;
  /** Fields, arguments and values of all types. */
  readonly fields: number;
}
