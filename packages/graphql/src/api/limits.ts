import { MAX_DELAY_MS } from '@edge-gateway/core';

/** Limits of requests and connections. Each is a positive integer; 0 means no limit, unless stated otherwise. */
export interface Limits {
  /** Characters of a document, checked before it is parsed. */
  readonly maxDocumentLength: number;
  /** Tokens of a document. */
  readonly maxTokens: number;
  /** Depth of fields; root fields have depth 1. Introspection does not count. */
  readonly maxQueryDepth: number;
  /** Aliases in a document. */
  readonly maxAliases: number;
  /** Root fields, with fragments expanded. */
  readonly maxRootFields: number;
  /** Directives in a document. */
  readonly maxDirectives: number;
  /** Fields of an operation, with fragments expanded. */
  readonly maxFields: number;
  /** Occurrences of the same field in one selection. */
  readonly maxFieldRepeats: number;
  /** Operations in one HTTP request; 0 disables batches. */
  readonly maxBatchSize: number;
  /** Bytes of a body, or of the query string of a GET; at least 1. */
  readonly maxBodyBytes: number;
  /** Milliseconds for one operation; at least 1. */
  readonly operationTimeoutMs: number;
  /** Requests to upstreams for one operation. */
  readonly maxUpstreamCalls: number;
  /** Concurrent requests to upstreams for one operation. */
  readonly maxConcurrentCalls: number;
  /** Bytes of one response of an upstream; at least 1. */
  readonly maxResponseBytes: number;
  /** Concurrent WebSockets and event streams. */
  readonly maxConnections: number;
  /** Concurrent operations of one WebSocket. */
  readonly maxSubscriptions: number;
  /** Concurrent subscriptions at the remote server; each has its own connection. */
  readonly maxRunningSubscriptions: number;
  /** Milliseconds a WebSocket may wait before `connection_init`; at least 1. */
  readonly connectionInitTimeoutMs: number;
  /** Milliseconds between pings; a WebSocket that did not answer the previous one is closed. */
  readonly pingIntervalMs: number;
  /** Maximum duration of a WebSocket or an event stream, in milliseconds. */
  readonly maxConnectionMs: number;
}

/** The limits that apply by default. */
export const DEFAULT_LIMITS: Limits = Object.freeze({
  maxDocumentLength: 65_536,
  maxTokens: 1000,
  maxQueryDepth: 15,
  maxAliases: 15,
  maxRootFields: 20,
  maxDirectives: 50,
  maxFields: 5000,
  maxFieldRepeats: 20,
  maxBatchSize: 0,
  maxBodyBytes: 1024 * 1024,
  operationTimeoutMs: 15_000,
  maxUpstreamCalls: 1000,
  maxConcurrentCalls: 20,
  maxResponseBytes: 10 * 1024 * 1024,
  maxConnections: 10_000,
  maxSubscriptions: 100,
  maxRunningSubscriptions: 1000,
  connectionInitTimeoutMs: 10_000,
  pingIntervalMs: 30_000,
  maxConnectionMs: 3_600_000,
});

/** Returns the defaults with the given limits. Times are at most the maximum of a timer, 24 days. */
export function limitsOf(given: Partial<Limits> = {}): Limits {
  const entries = Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, name.endsWith('Ms') ? Math.min(value, MAX_DELAY_MS) : value]);
  return { ...DEFAULT_LIMITS, ...(Object.fromEntries(entries) as Partial<Limits>) };
}
