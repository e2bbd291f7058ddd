import type { IncomingMessage } from 'node:http';
import {
  clusterName,
  factsOf,
  type Context,
  type Handler,
  type ResourceRef,
  type SnapshotGraphQLApi,
} from '@edge-gateway/core';
import { handlerOf } from '../serve/respond.ts';
import { exampleQuery } from './example-query.ts';
import { serveApi, type GraphQLActionOptions } from '../action.ts';

/** Executes requests of API explorers, on a port that clients cannot reach. */
export interface Explorer {
  apis(): readonly ResourceRef[];
  /** `undefined` for an API that is not served. */
  serve(api: ResourceRef): Handler | undefined;
  /** Returns a query to begin with; `undefined` for an API that is not served. Rejects if its schema is not known. */
  example(api: ResourceRef, req: IncomingMessage): Promise<string | undefined>;
  /** Closes all prepared APIs. */
  close(): Promise<void>;
}

/**
 * Prepares the APIs of a snapshot for explorers: with introspection, regardless of their configuration. `served` returns
 * those of the newest snapshot.
 */
export function createExplorer(
  served: () => readonly SnapshotGraphQLApi[],
  context: Context,
  options: GraphQLActionOptions = {},
): Explorer {
  const ready = new Map<string, ReturnType<typeof readyOf>>();
  const known = (): Map<string, SnapshotGraphQLApi> => new Map(served().map((api) => [clusterName(api.ref), api]));

  function readyOf(api: SnapshotGraphQLApi) {
    const { responder, api: executable } = serveApi(api, context, { ...options, introspection: true });
    return { api, executable, handler: handlerOf(responder), close: async () => responder.close?.() };
  }

  /** Closes APIs that were changed or removed. */
  async function release(apis: ReadonlyMap<string, SnapshotGraphQLApi>): Promise<void> {
    const gone = [...ready].filter(([name, { api }]) => apis.get(name) !== api);
    for (const [name] of gone) ready.delete(name);
    await Promise.all(gone.map(([, { close }]) => close()));
  }

  function prepared(ref: ResourceRef): ReturnType<typeof readyOf> | undefined {
    const apis = known();
    release(apis).catch((err: unknown) => context.log.get('graphql').warn({ err }, 'failed to close an explored API'));
    const name = clusterName(ref);
    const api = apis.get(name);
    if (!api) return undefined;
    let found = ready.get(name);
    if (!found) ready.set(name, (found = readyOf(api)));
    return found;
  }

  return {
    apis: () => [...known().values()].map(({ ref }) => ref),
    serve: (ref) => prepared(ref)?.handler,
    async example(ref, req) {
      const api = prepared(ref)?.executable;
      await api?.ready?.(factsOf(req));
      return api && exampleQuery(api.schema);
    },
    close: () => release(new Map()),
  };
}
