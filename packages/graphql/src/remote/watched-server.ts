import type { CallUpstream, Learned, Resource, ResourceRef } from '@edge-gateway/core';
import type { GraphQLApiSpec, UpstreamSpec } from '@edge-gateway/core/schema';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { schemaOfIntrospection } from '../discover/introspection.ts';
import { readSchema } from '../local/schema.ts';
import type { ChangePolicy } from './followed-schema.ts';
import { introspect } from './introspect.ts';
import { judgeSchemas, tellChanges } from './judge-schema.ts';
import { NOBODY, reasonOf, upstreamOf } from './remote-api.ts';
import { compileRemoteHead } from './remote-request.ts';
import { compareSchemas, type SchemaChange } from './schema-changes.ts';

/** Milliseconds for an introspection query. */
const TIMEOUT_MS = 10_000;
const CHANGED = 'the schema of the server has changed';
const DIFFERS = 'the schema of the server is not the declared one';

/** A remote API as it is written, and how its server is asked. */
export interface WatchedApi {
  readonly resource: Resource<GraphQLApiSpec>;
  readonly server: Resource<UpstreamSpec>;
  readonly upstream: ResourceRef;
  readonly path: string;
  readonly policy: ChangePolicy;
}

/** What one look at a server gave. */
export interface Look {
  readonly learned: Learned;
  /** What differs from the look before. */
  readonly changes: readonly SchemaChange[];
}

interface Seen {
  readonly text: string;
  readonly schema: GraphQLSchema;
}

/** The server of one API. */
export interface WatchedServer {
  /** Asks the server. Never rejects: what cannot be read is a note. */
  look(api: WatchedApi): Promise<Look>;
}

/** Makes what remembers how the schema of a server was. */
export function createWatchedServer(callUpstream: CallUpstream): WatchedServer {
  let seen: Seen | undefined;
  /** The schema in use of an API that declares none, and what was told of its last change. */
  let taken: { readonly schema: Seen; readonly learned: Learned } | undefined;
  let known: Learned = { problems: [], notes: [] };

  async function take(next: Seen, { policy }: WatchedApi): Promise<Learned> {
    const before = taken;
    const isTaken = before && known === before.learned;
    if (isTaken && before.schema.text === next.text) return known;
    const judgement = before
      ? await judgeSchemas(before.schema.schema, next.schema, policy)
      : { refused: false, changes: [] };
    // Servers may tell the same schema in another order.
    if (isTaken && judgement.changes.length === 0) return known;
    const schema = judgement.refused ? before!.schema : next;
    const learned = { problems: tellChanges(judgement, CHANGED), notes: [], serverSchema: schema.text };
    if (!judgement.refused) taken = { schema, learned };
    return learned;
  }

  async function judge(next: Seen, api: WatchedApi): Promise<Learned> {
    const declared = api.resource.spec.executableSchema?.schemaDefinition;
    if (!declared) return take(next, api);
    taken = undefined;
    const judgement = await judgeSchemas(readSchema(declared).schema, next.schema, api.policy);
    return { problems: tellChanges(judgement, DIFFERS), notes: [] };
  }

  return {
    async look(api) {
      try {
        const next = await ask(callUpstream, api);
        const changes = seen && seen.text !== next.text ? await compareSchemas(seen.schema, next.schema) : [];
        seen = next;
        known = await judge(next, api);
        return { learned: known, changes };
      } catch (error) {
        const note = `the schema of the server cannot be read: ${reasonOf(error).slice(0, 200)}`;
        return { learned: { ...known, notes: [note] }, changes: [] };
      }
    },
  };
}

async function ask(callUpstream: CallUpstream, { resource, upstream, path }: WatchedApi): Promise<Seen> {
  const { remote } = resource.spec.executableSchema!.executor!;
  const head = compileRemoteHead(remote!)(path, NOBODY);
  const text = schemaOfIntrospection(await introspect(callUpstream, upstream, { ...head, timeoutMs: TIMEOUT_MS }));
  return { text, schema: buildSchema(text) };
}

/** The upstream of an API, where it is a remote one that can be asked. */
export function serverOf({ spec, metadata }: Resource<GraphQLApiSpec>): ResourceRef | undefined {
  const remote = spec.executableSchema?.executor?.remote;
  return remote?.upstreamRef?.name ? upstreamOf(remote, metadata.namespace) : undefined;
}
