import { clusterName, serviceSpecOf, type ControlPlaneState, type Route } from '@edge-gateway/core';
import type { UpstreamSpec } from '@edge-gateway/core/schema';

export const SERVER_PATH = '/graphql';

/** Returns the path for introspection by cluster name of the API: that of the first route to it. */
export function routedPaths({ snapshots }: Pick<ControlPlaneState, 'snapshots'>): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const { listeners } of snapshots.values()) {
    for (const { virtualHosts } of listeners) {
      const answering = virtualHosts.filter(({ graphqlApis }) => graphqlApis.length > 0);
      for (const route of answering.flatMap(({ routes }) => routes)) {
        if (route.action.type !== 'graphql') continue;
        const path = sentPath(route);
        const api = clusterName(route.action.api);
        if (path !== undefined && !paths.has(api)) paths.set(api, path);
      }
    }
  }
  return paths;
}

function sentPath({ matchers, options }: Route): string | undefined {
  const [{ exact, prefix } = {}] = matchers as readonly { readonly exact?: string; readonly prefix?: string }[];
  const path = options.prefixRewrite || exact || prefix;
  return path && path !== '/' && path.startsWith('/') ? path : undefined;
}

/** Returns the path that an upstream declares (`serviceSpec.graphql.endpoint.url`). */
export function namedPath(spec: UpstreamSpec | undefined): string | undefined {
  return pathOf(spec && serviceSpecOf(spec)?.graphql?.endpoint?.url);
}

/** Returns path and query of a URL, which may lack its host. */
export function pathOf(url: string | undefined): string | undefined {
  const parsed = url ? URL.parse(url, 'http://upstream') : null;
  return parsed ? parsed.pathname + parsed.search : undefined;
}
