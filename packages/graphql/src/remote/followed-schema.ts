import type { Facts, Logger } from '@edge-gateway/core';
import type { GraphQLSchema } from 'graphql';
import { graphqlError } from '../errors/refusal.ts';
import type { ServerSchema } from './introspect.ts';
import { judgeSchemas, MAX_REPORTED, type ChangePolicy } from './judge-schema.ts';

interface FollowOptions {
  readonly ask: (facts: Facts) => Promise<ServerSchema>;
  readonly now: () => number;
  readonly log: Logger;
  readonly name: string;
  readonly changes?: ChangePolicy;
}

/** Age from which a schema is stale, in milliseconds. */
export const SCHEMA_AGE_MS = 60_000;
const COOL_DOWN_MS = 1000;

export function followSchema(options: FollowOptions) {
  let schema: GraphQLSchema | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let failed = false;
  let asking: Promise<void> | undefined;

  async function renew(facts: Facts): Promise<void> {
    askedAt = options.now();
    try {
      const { schema: next } = await options.ask(facts);
      schema = schema ? await accept(schema, next, options) : next;
      failed = false;
    } catch (error) {
      failed = true;
      const reason = error instanceof Error ? error.message : String(error);
      options.log.warn({ api: options.name, reason }, 'invalid schema of remote server');
    } finally {
      asking = undefined;
    }
  }

  return {
    /** `undefined` until `ready` resolved once. */
    get schema() {
      return schema;
    },
    /** Resolves when there is a schema, and refreshes a stale one. Rejects with `ERR_GRAPHQL_UPSTREAM` if there is none. */
    ready(facts: Facts): Promise<void> | undefined {
      const age = options.now() - askedAt;
      if (age > (failed ? COOL_DOWN_MS : SCHEMA_AGE_MS)) asking ??= renew(facts);
      if (schema) return undefined;
      return Promise.resolve(asking).then(() => {
        if (!schema) throw graphqlError('ERR_GRAPHQL_UPSTREAM');
      });
    },
  };
}

/** Returns the schema to use: the same object if nothing changed. */
async function accept(before: GraphQLSchema, after: GraphQLSchema, options: FollowOptions): Promise<GraphQLSchema> {
  const { refused, changes } = await judgeSchemas(before, after, options.changes ?? {});
  if (changes.length === 0) return before;
  const lines = changes.slice(0, MAX_REPORTED).map(({ level, message }) => `${level}: ${message}`);
  if (changes.length > MAX_REPORTED) lines.push(`and ${changes.length - MAX_REPORTED} more`);
  const line = { api: options.name, changes: lines };
  if (changes[0]!.level !== 'breaking') options.log.info(line, 'schema of remote server changed');
  else options.log.warn(line, refused ? 'breaking schema change rejected' : 'breaking schema change');
  return refused ? before : after;
}
