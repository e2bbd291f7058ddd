import { assertValidSchema, buildClientSchema, printSchema, type IntrospectionQuery } from 'graphql';
import type { Discovery, UpstreamName } from './discovered-api.ts';

/** Makes an API that hands queries to the GraphQL server. Throws where the answer is no introspection result. */
export function discoverServer(upstream: UpstreamName, introspection: unknown): Discovery {
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

/** The schema in the `data` of an introspection query, as text. Throws a `TypeError` or `GraphQLError` for anything else. */
export function schemaOfIntrospection(introspection: unknown): string {
  const { __schema: schema } = (introspection ?? {}) as { __schema?: unknown };
  if (typeof schema !== 'object' || schema === null) throw new TypeError('the answer has no __schema');
  const built = buildClientSchema(introspection as IntrospectionQuery);
  assertValidSchema(built);
  return printSchema(built);
}
