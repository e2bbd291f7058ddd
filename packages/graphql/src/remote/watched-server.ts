import type { CallUpstream, Observed, Resource, ResourceRef } from '@edge-gateway/core';
import type { GraphQLApiSpec, UpstreamSpec } from '@edge-gateway/core/schema';
import { readSchema } from '../schema/read-schema.ts';
import { readServerSchema, type ServerSchema } from './introspect.ts';
import { judgeSchemas, changeProblems, type ChangePolicy } from './judge-schema.ts';
import { NOBODY, reasonOf, upstreamOf } from './remote-api.ts';
import { compileRemoteHead } from './remote-request.ts';
import { compareSchemas, type SchemaChange } from '../schema/schema-changes.ts';

const TIMEOUT_MS = 10_000;
const CHANGED = 'the schema of the server has changed';
const DIFFERS = 'the schema of the server differs from the declared one';

/** A remote API, and how to reach its server. */
export interface WatchedApi {
  readonly resource: Resource<GraphQLApiSpec>;
  readonly server: Resource<UpstreamSpec>;
  readonly upstream: ResourceRef;
  readonly path: string;
  readonly policy: ChangePolicy;
}

export function createWatchedServer(callUpstream: CallUpstream) {
  let seen: ServerSchema | undefined;
  /** The schema in use of an API that declares none, and the report of its last change. */
  let accepted: { readonly schema: ServerSchema; readonly observed: Observed } | undefined;
  let known: Observed = { problems: [], notes: [] };

  async function accept(next: ServerSchema, { policy }: WatchedApi): Promise<Observed> {
    const before = accepted;
    const isAccepted = before && known === before.observed;
    if (isAccepted && before.schema.text === next.text) return known;
    const judgement = before
      ? await judgeSchemas(before.schema.schema, next.schema, policy)
      : { refused: false, changes: [] };
    // Servers may return the same schema in another order.
    if (isAccepted && judgement.changes.length === 0) return known;
    const schema = judgement.refused ? before!.schema : next;
    const observed = { problems: changeProblems(judgement, CHANGED), notes: [], serverSchema: schema.text };
    if (!judgement.refused) accepted = { schema, observed };
    return observed;
  }

  async function judge(next: ServerSchema, api: WatchedApi): Promise<Observed> {
    const declared = api.resource.spec.executableSchema?.schemaDefinition;
    if (!declared) return accept(next, api);
    accepted = undefined;
    const judgement = await judgeSchemas(readSchema(declared).schema, next.schema, api.policy);
    return { problems: changeProblems(judgement, DIFFERS), notes: [] };
  }

  return {
    /** Polls the server. Never rejects: a failure is a note. */
    async look(api: WatchedApi): Promise<{ readonly observed: Observed; readonly changes: readonly SchemaChange[] }> {
      try {
        const { remote } = api.resource.spec.executableSchema!.executor!;
        const head = compileRemoteHead(remote!)(api.path, NOBODY);
        const next = await readServerSchema(callUpstream, api.upstream, { ...head, timeoutMs: TIMEOUT_MS });
        const changes = seen && seen.text !== next.text ? await compareSchemas(seen.schema, next.schema) : [];
        seen = next;
        known = await judge(next, api);
        return { observed: known, changes };
      } catch (error) {
        const note = `the schema of the server cannot be read: ${reasonOf(error).slice(0, 200)}`;
        return { observed: { ...known, notes: [note] }, changes: [] };
      }
    },
  };
}

/** Returns the upstream of a remote API; `undefined` for other APIs. */
export function serverOf({ spec, metadata }: Resource<GraphQLApiSpec>): ResourceRef | undefined {
  const remote = spec.executableSchema?.executor?.remote;
  return remote?.upstreamRef?.name ? upstreamOf(remote, metadata.namespace) : undefined;
}
