import type { Facts, Logger } from '@edge-gateway/core';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { schemaOfIntrospection } from '../discover/introspection.ts';
import { graphqlError } from '../api/refusal.ts';
import { compareSchemas, type ChangeRule, type SchemaChange } from '../schema/schema-changes.ts';

/** How schema changes are applied (Settings `graphqlOptions.schemaChangeValidationOptions`). */
export interface ChangePolicy {
  /** Keeps the previous schema at a breaking change. Default false. */
  readonly rejectBreakingChanges?: boolean;
  readonly processingRules?: readonly ChangeRule[];
}

export interface FollowOptions {
  /** Returns the `data` of an introspection query to the server. */
  readonly ask: (facts: Facts) => Promise<unknown>;
  readonly now: () => number;
  readonly log: Logger;
  /** For messages. */
  readonly name: string;
  readonly changes?: ChangePolicy;
}

/** The schema of a server, read at the first request and again when it is stale. */
export interface FollowedSchema {
  /** `undefined` until `ready` resolved once. */
  readonly schema: GraphQLSchema | undefined;
  /**
   * Resolves when there is a schema; a stale one is refreshed in the background. Rejects with `ERR_GRAPHQL_UPSTREAM` if there is
   * none, and again without a request during the next second.
   */
  ready(facts: Facts): Promise<void> | undefined;
}

/** Age from which a schema is stale, in milliseconds. */
export const SCHEMA_AGE_MS = 60_000;
const COOL_DOWN_MS = 1000;

/** Follows the schema of a server. */
export function followSchema(options: FollowOptions): FollowedSchema {
  let schema: GraphQLSchema | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let failed = false;
  let asking: Promise<void> | undefined;

  async function renew(facts: Facts): Promise<void> {
    askedAt = options.now();
    try {
      const next = buildSchema(schemaOfIntrospection(await options.ask(facts)));
      schema = schema ? await take(schema, next, options) : next;
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
    get schema() {
      return schema;
    },
    ready(facts) {
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
async function take(before: GraphQLSchema, after: GraphQLSchema, options: FollowOptions): Promise<GraphQLSchema> {
  const { rejectBreakingChanges = false, processingRules = [] } = options.changes ?? {};
  const changes = await compareSchemas(before, after, processingRules);
  if (changes.length === 0) return before;
  const breaking = changes.filter(({ level }) => level === 'breaking');
  const refused = breaking.length > 0 && rejectBreakingChanges;
  const told = { api: options.name, changes: tell(changes) };
  if (breaking.length === 0) options.log.info(told, 'schema of remote server changed');
  else options.log.warn(told, refused ? 'breaking schema change rejected' : 'breaking schema change');
  return refused ? before : after;
}

/** Returns changes as lines, at most 20. */
export function tell(changes: readonly SchemaChange[]): string[] {
  const lines = changes.slice(0, 20).map(({ level, message }) => `${level}: ${message}`);
  return changes.length > 20 ? [...lines, `and ${changes.length - 20} more`] : lines;
}
