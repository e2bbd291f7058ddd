import { clusterName, type Context, type Handler, type ResourceRef, type SnapshotGraphQLApi } from '@edge-gateway/core';
import { serveApi, type GraphQLActionOptions } from './action.ts';

/** Runs requests of people who look at an API, on a port that clients do not reach. */
export interface Explorer {
  apis(): readonly ResourceRef[];
  /** `undefined` for an API that is not served. */
  serve(api: ResourceRef): Handler | undefined;
}

/**
 * Makes the APIs of a snapshot ready to be looked at: with answers about their schema, whatever they say to clients. `served` gives
 * those of the newest snapshot.
 */
export function createExplorer(
  served: () => readonly SnapshotGraphQLApi[],
  context: Context,
  options: GraphQLActionOptions = {},
): Explorer {
  const handlers = new WeakMap<SnapshotGraphQLApi, Handler>();
  const known = (): Map<string, SnapshotGraphQLApi> => new Map(served().map((api) => [clusterName(api.ref), api]));

  function handlerOf(api: SnapshotGraphQLApi): Handler {
    const responder = serveApi(api, context, { ...options, introspection: true });
    return function explore(req, res, next) {
      responder({ req, res, writeHead: (status, headers) => void res.writeHead(status, [...headers]) }, next);
    };
  }

  return {
    apis: () => [...known().values()].map(({ ref }) => ref),
    serve(ref) {
      const api = known().get(clusterName(ref));
      if (!api) return undefined;
      let handler = handlers.get(api);
      if (!handler) handlers.set(api, (handler = handlerOf(api)));
      return handler;
    },
  };
}
