import type { GraphQLApiOptions } from '../../src/index.ts';

export type Apis = NonNullable<GraphQLApiOptions['apis']>;

/** A resolution that asks the upstream `backend` for a path. */
export function rest(path: string) {
  return {
    restResolver: { upstreamRef: { name: 'backend' }, timeout: '30s', request: { headers: { ':path': path } } },
  };
}
