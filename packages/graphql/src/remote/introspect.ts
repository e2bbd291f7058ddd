import type { CallUpstream, ResourceRef } from '@edge-gateway/core';
import {
  assertValidSchema,
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  printSchema,
  type GraphQLSchema,
  type IntrospectionQuery,
} from 'graphql';
import { readRemoteAnswer } from './remote-answer.ts';

const QUERY = getIntrospectionQuery({ descriptions: true });

export const MAX_SCHEMA_BYTES = 10 * 1024 * 1024;

interface IntrospectOptions {
  readonly path: string;
  readonly headers?: readonly string[];
  readonly timeoutMs: number;
}

/** Returns the `data` of an introspection query. Rejects with an `Error` if the server returns none. */
export async function introspect(
  callUpstream: CallUpstream,
  upstream: ResourceRef,
  { path, headers = [], timeoutMs }: IntrospectOptions,
): Promise<unknown> {
  const answer = await callUpstream(upstream, {
    method: 'POST',
    path,
    headers: [
      'content-type',
      'application/json',
      'accept',
      'application/json',
      'accept-encoding',
      'identity',
      ...headers,
    ],
    body: JSON.stringify({ query: QUERY }),
    timeoutMs,
    maxBodyBytes: MAX_SCHEMA_BYTES,
  });
  const { data, errors } = readRemoteAnswer(upstream.name, answer, MAX_SCHEMA_BYTES);
  if (data === undefined || data === null)
    throw new Error(errors?.[0]?.message ?? 'the server does not allow introspection');
  return data;
}

export interface ServerSchema {
  readonly text: string;
  readonly schema: GraphQLSchema;
}

/** Returns the schema of a server. Rejects with an `Error` if the server returns none. */
export async function readServerSchema(...args: Parameters<typeof introspect>): Promise<ServerSchema> {
  const text = schemaOfIntrospection(await introspect(...args));
  return { text, schema: buildSchema(text) };
}

/** Returns the schema in the `data` of an introspection query, as text. Throws a `TypeError` or `GraphQLError` for anything else. */
export function schemaOfIntrospection(introspection: unknown): string {
  const { __schema: schema } = (introspection ?? {}) as { __schema?: unknown };
  if (typeof schema !== 'object' || schema === null) throw new TypeError('the response has no __schema');
  const built = buildClientSchema(introspection as IntrospectionQuery);
  assertValidSchema(built);
  return printSchema(built);
}
