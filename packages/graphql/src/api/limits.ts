import { MAX_DELAY_MS } from '@edge-gateway/core';

/** Bounds of what a client may ask of an API. Each is a positive integer; 0 is no limit, save where it says otherwise. */
export interface Limits {
  /** Characters of a document: what reading it may cost before a token is counted. */
  readonly maxDocumentLength: number;
  /** Tokens of a document. */
  readonly maxTokens: number;
  /** Depth of fields: those of the operation itself are at 1. Questions about the schema do not count. */
  readonly maxQueryDepth: number;
  /** Aliases in a document. */
  readonly maxAliases: number;
  /** Fields of the operation itself, fragments opened. */
  readonly maxRootFields: number;
  /** Directives in a document. */
  readonly maxDirectives: number;
  /** Fields of an operation with all fragments opened. */
  readonly maxFields: number;
  /** How often one selection may name the same field. */
  readonly maxFieldRepeats: number;
  /** Operations in one HTTP request; 0 allows no batch at all. */
  readonly maxBatchSize: number;
  /** Bytes of a body, or of the query string of a GET; at least 1. */
  readonly maxBodyBytes: number;
  /** Milliseconds for one operation; at least 1. */
  readonly operationTimeoutMs: number;
  /** Requests to upstreams for one operation. */
  readonly maxUpstreamCalls: number;
  /** Requests to upstreams for one operation at the same time. */
  readonly maxConcurrentCalls: number;
  /** Bytes of one answer of an upstream; at least 1. */
  readonly maxResponseBytes: number;
  /** WebSockets and event streams at the same time. */
  readonly maxConnections: number;
  /** Operations of one WebSocket at the same time. */
  readonly maxSubscriptions: number;
  /** Subscriptions at the server behind at the same time: each has a connection of its own there. */
  readonly maxRunningSubscriptions: number;
  /** Milliseconds that a WebSocket may stay without `connection_init`; at least 1. */
  readonly connectionInitTimeoutMs: number;
  /** Milliseconds between pings; a WebSocket that has not answered the one before is closed. */
  readonly pingIntervalMs: number;
  /** Milliseconds that a WebSocket or an event stream lives. */
  readonly maxConnectionMs: number;
}

/** What holds unless it is said otherwise. */
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

/** The defaults with those replaced that are given; no time is longer than a timer takes, 24 days. */
export function limitsOf(given: Partial<Limits> = {}): Limits {
  const entries = Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, name.endsWith('Ms') ? Math.min(value, MAX_DELAY_MS) : value]);
  return { ...DEFAULT_LIMITS, ...(Object.fromEntries(entries) as Partial<Limits>) };
}
