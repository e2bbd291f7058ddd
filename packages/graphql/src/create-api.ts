import type { Context, ResourceRef, SnapshotUpstream } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import type { ExecutableApi } from './api.ts';
import type { Limits } from './limits.ts';
import { createLocalApi } from './local/local-api.ts';
import { graphqlError } from './refusal.ts';
import type { ApiCounts } from './statistics.ts';
import { noUpstreams } from './upstream-urls.ts';

/** What an API is made with. */
export interface ApiParts {
  readonly ref: ResourceRef;
  readonly spec: GraphQLApiSpec;
  readonly limits: Limits;
  readonly counts: ApiCounts;
  readonly findUpstream?: (ref: ResourceRef) => SnapshotUpstream | undefined;
}

/** Makes the API that a spec declares. Throws `ERR_GRAPHQL_API` where it cannot be served. */
export function createApi({ ref, spec, limits, counts, findUpstream }: ApiParts, context: Context): ExecutableApi {
  const { executableSchema } = spec;
  try {
    if (!executableSchema?.executor?.local) throw new Error('it has no executor that is known');
    return createLocalApi(executableSchema, {
      namespace: ref.namespace,
      name: `${ref.namespace}.${ref.name}`,
      callUpstream: context.callUpstream ?? noUpstreams,
      findUpstream,
      limits,
      countsOf: counts.resolver,
      log: context.log.get('graphql'),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw graphqlError('ERR_GRAPHQL_API', `${ref.name}: ${reason}.`, error);
  }
}
