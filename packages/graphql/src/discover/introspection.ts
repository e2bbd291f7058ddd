import { assertValidSchema, buildClientSchema, printSchema, type IntrospectionQuery } from 'graphql';
import type { ResourceRef } from '@edge-gateway/core';
import type { Discovery } from './discovered-api.ts';

/** Creates an API that forwards queries to the GraphQL server. Throws if the result of the introspection is invalid. */
export function discoverServer(upstream: ResourceRef, introspection: unknown): Discovery {
  return {
    spec: {
      executableSchema: {
        schemaDefinition: schemaOfIntrospection(introspection),
        executor: {
          remote: {
            upstreamRef: { name: upstream.name, namespace: upstream.namespace },
            enableIntrospection: true,
          },
        },
      },
    },
    skipped: [],
  };
}

/** Returns the schema in the `data` of an introspection query, as text. Throws a `TypeError` or `GraphQLError` for anything else. */
export function schemaOfIntrospection(introspection: unknown): string {
  const { __schema: schema } = (introspection ?? {}) as { __schema?: unknown };
  if (typeof schema !== 'object' || schema === null) throw new TypeError('the response has no __schema');
  const built = buildClientSchema(introspection as IntrospectionQuery);
  assertValidSchema(built);
  return printSchema(built);
}
