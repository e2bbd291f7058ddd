import { clusterName, type ControlPlaneState, type Route } from '@edge-gateway/core';
import type { UpstreamSpec } from '@edge-gateway/core/schema';

/** Path at which GraphQL servers are asked that say nothing else. */
export const SERVER_PATH = '/graphql';

/**
 * Where servers are asked for their schema, by the cluster name of their API: at the path that requests to it are sent to, as the
 * first route says that leads to it.
 */
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

/** The path that an upstream names itself (`serviceSpec.graphql.endpoint.url`). */
export function namedPath(spec: UpstreamSpec | undefined): string | undefined {
  return pathOf(spec?.static?.serviceSpec?.graphql?.endpoint?.url);
}

/** Path and query of a URL, which may lack its host. */
export function pathOf(url: string | undefined): string | undefined {
  const parsed = url ? URL.parse(url, 'http://upstream') : null;
  return parsed ? parsed.pathname + parsed.search : undefined;
}
