import type { Facts, Logger } from '@edge-gateway/core';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { schemaOfIntrospection } from '../discover/introspection.ts';
import { graphqlError } from '../api/refusal.ts';
import { compareSchemas, type ChangeRule, type SchemaChange } from './schema-changes.ts';

/** How a changed schema is taken (Settings `graphqlOptions.schemaChangeValidationOptions`). */
export interface ChangePolicy {
  /** Keeps the schema before a breaking change. Default false. */
  readonly rejectBreakingChanges?: boolean;
  readonly processingRules?: readonly ChangeRule[];
}

export interface FollowOptions {
  /** Asks the server: the `data` of an introspection query. */
  readonly ask: (facts: Facts) => Promise<unknown>;
  readonly now: () => number;
  readonly log: Logger;
  /** For messages. */
  readonly name: string;
  readonly changes?: ChangePolicy;
}

/** The schema of a server, asked for at the first request and again when it is old. */
export interface FollowedSchema {
  /** `undefined` until `ready` resolved once. */
  readonly schema: GraphQLSchema | undefined;
  /**
   * Resolves when there is a schema; an old one is renewed beside the request. Rejects with `ERR_GRAPHQL_UPSTREAM` when there is
   * none, and again without asking for a second after that.
   */
  ready(facts: Facts): Promise<void> | undefined;
}

/** Age from which a schema is asked for again, in milliseconds. */
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
      options.log.warn({ api: options.name, reason }, 'the schema of the server cannot be read');
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

/** The schema that holds from now on: the same object when nothing has changed. */
async function take(before: GraphQLSchema, after: GraphQLSchema, options: FollowOptions): Promise<GraphQLSchema> {
  const { rejectBreakingChanges = false, processingRules = [] } = options.changes ?? {};
  const changes = await compareSchemas(before, after, processingRules);
  if (changes.length === 0) return before;
  const breaking = changes.filter(({ level }) => level === 'breaking');
  const refused = breaking.length > 0 && rejectBreakingChanges;
  const told = { api: options.name, changes: tell(changes) };
  if (breaking.length === 0) options.log.info(told, 'the schema of the server has changed');
  else
    options.log.warn(told, refused ? 'a breaking change of the schema is refused' : 'a breaking change of the schema');
  return refused ? before : after;
}

/** Changes as lines, at most 20 of them. */
export function tell(changes: readonly SchemaChange[]): string[] {
  const lines = changes.slice(0, 20).map(({ level, message }) => `${level}: ${message}`);
  return changes.length > 20 ? [...lines, `and ${changes.length - 20} more`] : lines;
}
