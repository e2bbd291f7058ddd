import { parseDuration, type Listener } from '@edge-gateway/core';
import type { RequestRules } from '../check/check-request.ts';

/** Limits that a listener applies to its clients. Times are in milliseconds; 0 is no limit. */
export interface ListenLimits extends RequestRules {
  /** Maximum time from the first byte of a request, or the start of the connection, to the end of its head. Default 10,000. */
  readonly headTimeoutMs: number;
  /** Maximum time to the end of the whole request. Default 0. */
  readonly requestTimeoutMs: number;
  /** Maximum time that a connection without a request stays open. Default 3,600,000. */
  readonly idleTimeoutMs: number;
  /** Maximum time without progress of a request in either direction. Default 300,000. */
  readonly streamIdleTimeoutMs: number;
  /** Maximum time for a TLS handshake. Default 10,000. */
  readonly handshakeTimeoutMs: number;
  /** Maximum time that a closing connection waits for the client to read the response. Default 1,000. */
  readonly closeDelayMs: number;
  /** Maximum time for the requests of a removed listener to finish. Default 5,000. */
  readonly drainTimeoutMs: number;
  /** Maximum age of a connection, which then closes after its requests. Default 0. */
  readonly maxConnectionDurationMs: number;
  /** Maximum number of requests of a connection, which closes after the last one. Default 0: no limit. */
  readonly maxRequestsPerConnection: number;
  /**
   * Maximum number of open connections of the listener; further ones are closed. Default 10,000; all listeners
   * together have at most half as many as the process may open files.
   */
  readonly maxConnections: number;
  /** Time before a connection above that maximum is closed. Default 0. */
  readonly overflowDelayMs: number;
  /** Versions of HTTP that clients may speak. Default `AUTO`: HTTP/1.1 and HTTP/2. */
  readonly codecType: 'AUTO' | 'HTTP1' | 'HTTP2';
  /**
   * The HTTP/1.1 parser. With `plain`, plain requests are parsed without `node:http`, which takes over the connection with the first other
   * request. With `node`, it parses all requests. Default `plain`, if the version of Node supports it.
   */
  readonly http1Parser: 'node' | 'plain';
  /** Maximum number of concurrent streams of an HTTP/2 connection. Default 1,024. */
  readonly maxConcurrentStreams: number;
  /** Bytes of a body that a client may send ahead of its reader, per stream of HTTP/2. Default 16 MiB. */
  readonly initialStreamWindowBytes: number;
  /** The same for all streams of an HTTP/2 connection. Default 24 MiB. */
  readonly initialConnectionWindowBytes: number;
  /** Interval between checks of the timeouts. Default 1,000. */
  readonly checkIntervalMs: number;
}

/** Defaults for limits that neither the listener nor the caller sets. */
export const DEFAULT_LIMITS: ListenLimits = {
  maxTargetBytes: 8_192,
  maxHeadBytes: 16_384,
  maxHeaders: 100,
  acceptHttp10: false,
  defaultHost: '',
  anyMethod: false,
  refuseUnderscores: false,
  maxBodyBytes: 0,
  headTimeoutMs: 10_000,
  requestTimeoutMs: 0,
  idleTimeoutMs: 3_600_000,
  streamIdleTimeoutMs: 300_000,
  handshakeTimeoutMs: 10_000,
  closeDelayMs: 1_000,
  drainTimeoutMs: 5_000,
  maxConnectionDurationMs: 0,
  maxRequestsPerConnection: 0,
  maxConnections: 10_000,
  overflowDelayMs: 0,
  codecType: 'AUTO',
  http1Parser: 'plain',
  maxConcurrentStreams: 1_024,
  initialStreamWindowBytes: 16 * 1024 * 1024,
  initialConnectionWindowBytes: 24 * 1024 * 1024,
  checkIntervalMs: 1_000,
};

/** Returns the limits of a listener: those of its resource, else those of the caller, else {@link DEFAULT_LIMITS}. */
export function limitsOf(listener: Pick<Listener, 'httpOptions'>, overrides: Partial<ListenLimits> = {}): ListenLimits {
  return { ...DEFAULT_LIMITS, ...overrides, ...withoutUndefined(writtenLimits(listener)) };
}

function writtenLimits({ httpOptions }: Pick<Listener, 'httpOptions'>): Partial<ListenLimits> {
  const settings = httpOptions.httpConnectionManagerSettings ?? {};
  const head = settings.maxRequestHeadersKb === undefined ? undefined : settings.maxRequestHeadersKb * 1024;
  const http2 = settings.http2ProtocolOptions ?? {};
  const underscores = settings.headersWithUnderscoresAction;
  return {
    maxTargetBytes: head,
    maxHeadBytes: head,
    maxHeaders: settings.maxHeadersCount,
    acceptHttp10: settings.acceptHttp10,
    defaultHost: settings.defaultHostForHttp10,
    anyMethod: httpOptions.headerValidationSettings?.disableHttp1MethodValidation && true,
    refuseUnderscores: underscores === undefined ? undefined : underscores === 'REJECT_CLIENT_REQUEST',
    headTimeoutMs: milliseconds(settings.requestHeadersTimeout),
    requestTimeoutMs: milliseconds(settings.requestTimeout),
    idleTimeoutMs: milliseconds(settings.idleTimeout),
    streamIdleTimeoutMs: milliseconds(settings.streamIdleTimeout),
    closeDelayMs: milliseconds(settings.delayedCloseTimeout),
    drainTimeoutMs: milliseconds(settings.drainTimeout),
    maxConnectionDurationMs: milliseconds(settings.maxConnectionDuration),
    maxRequestsPerConnection: settings.maxRequestsPerConnection,
    codecType: settings.codecType,
    maxConcurrentStreams: http2.maxConcurrentStreams,
    initialStreamWindowBytes: http2.initialStreamWindowSize,
    initialConnectionWindowBytes: http2.initialConnectionWindowSize,
    maxConnections: httpOptions.connectionLimit?.maxActiveConnections,
    overflowDelayMs: milliseconds(httpOptions.connectionLimit?.delayBeforeClose),
  };
}

const milliseconds = (duration: string | undefined): number | undefined =>
  duration === undefined ? undefined : parseDuration(duration);

function withoutUndefined<T extends object>(object: T): Partial<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>;
}
