import type { CallUpstream, ResourceRef } from '@edge-gateway/core';
import { getIntrospectionQuery } from 'graphql';
import { readRemoteAnswer } from './remote-answer.ts';

const QUERY = getIntrospectionQuery({ descriptions: true });

/** Maximum size of an introspection result in bytes. */
export const MAX_SCHEMA_BYTES = 10 * 1024 * 1024;

export interface IntrospectOptions {
  readonly path: string;
  /** Flat. */
  readonly headers?: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Returns the `data` of an introspection query. Rejects with an `Error` if the server returns none. */
export async function introspect(
  callUpstream: CallUpstream,
  upstream: ResourceRef,
  { path, headers = [], timeoutMs, signal }: IntrospectOptions,
): Promise<unknown> {
  const answer = await callUpstream(upstream, {
    method: 'POST',
    path,
    headers: ['content-type', 'application/json', 'accept', 'application/json', ...headers],
    body: JSON.stringify({ query: QUERY }),
    timeoutMs,
    maxBodyBytes: MAX_SCHEMA_BYTES,
    ...(signal && { signal }),
  });
  const { data, errors } = readRemoteAnswer(upstream.name, answer);
  if (data === undefined || data === null)
    throw new Error(errors?.[0]?.message ?? 'the server does not tell its schema');
  return data;
}
