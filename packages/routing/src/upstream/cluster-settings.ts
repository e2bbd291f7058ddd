import { DEFAULTS, delayOf, parseDuration, upstreamHttpVersion, type SnapshotUpstream } from '@edge-gateway/core';
import type { CircuitBreakers } from './circuit-breakers.ts';
import { compileKeepAlive } from './connect/keep-alive.ts';
import type { PingSettings } from './http2/ping-check.ts';

/** Default time limit of an exchange, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = parseDuration(DEFAULTS.routeTimeout);

/** Maximum time to connect, including the TLS handshake, in milliseconds. */
const DEFAULT_CONNECT_TIMEOUT_MS = parseDuration(DEFAULTS.connectTimeout);
/** How long an unused connection is kept, in milliseconds. */
const DEFAULT_IDLE_TIMEOUT_MS = 3_600_000;

const DEFAULT_MAX_HEADERS = 100;
const PING_TIMEOUT_MS = delayOf(DEFAULTS.http2PingTimeout);

/** Bounds of the connections to one endpoint. */
export type ConnectionSettings = Readonly<ReturnType<typeof connectionSettings>>;

/** Reads the bounds from the spec of an upstream. An idle timeout of `0s` disables it. */
export function connectionSettings({ spec }: SnapshotUpstream, { maxPending }: CircuitBreakers) {
  const connection = spec.connectionConfig;
  const idle = connection?.commonHttpProtocolOptions?.idleTimeout;
  const { perUpstreamPreconnectRatio = 1, predictivePreconnectRatio = 1 } = spec.preconnectPolicy ?? {};
  return {
    connectTimeoutMs: milliseconds(connection?.connectTimeout, DEFAULT_CONNECT_TIMEOUT_MS),
    keepAlive: compileKeepAlive(connection?.tcpKeepalive),
    idleTimeoutMs: milliseconds(idle, DEFAULT_IDLE_TIMEOUT_MS),
    maxPending,
    /** Longest duration of one attempt; 0 is no limit. */
    maxStreamMs: delayOf(connection?.commonHttpProtocolOptions?.maxStreamDuration) ?? 0,
    /** 0 is no limit. */
    maxRequestsPerConnection: connection?.maxRequestsPerConnection ?? 0,
    /** Bytes of a response that may wait for its client; 0: what is read at once. */
    bufferBytes: connection?.perConnectionBufferLimitBytes ?? 0,
    /** Maximum number of headers of a response, and of its trailers. */
    maxHeaders: connection?.commonHttpProtocolOptions?.maxHeadersCount ?? DEFAULT_MAX_HEADERS,
    /** True writes header names in title case. */
    properCase: connection?.http1ProtocolOptions?.properCaseHeaderKeyFormat === true,
    /** True sends and accepts trailers over HTTP/1.1. */
    enableTrailers: connection?.http1ProtocolOptions?.enableTrailers === true,
    /** `downstream`: that of the client. */
    httpVersion: upstreamHttpVersion(spec),
    http2: {
      /** Bytes of a response that are sent before the gateway reads on. */
      streamWindow: spec.initialStreamWindowSize ?? DEFAULTS.http2StreamWindow,
      connectionWindow: spec.initialConnectionWindowSize ?? DEFAULTS.http2ConnectionWindow,
      maxStreams: spec.maxConcurrentStreams || Infinity,
      /** True if an invalid response ends its stream only, and not the connection. */
      endsOnlyStream: spec.overrideStreamErrorOnInvalidHttpMessage === true,
      pings: {
        intervalMs: delayOf(spec.connectionKeepalive?.interval) ?? 0,
        timeoutMs: delayOf(spec.connectionKeepalive?.timeout) || PING_TIMEOUT_MS,
      } satisfies PingSettings,
    },
    /** Version of the PROXY header that connections begin with, if any. */
    proxyProtocol: spec.proxyProtocolVersion,
    /** Connections for each active request; 1 opens none ahead. */
    preconnectRatio: Math.max(perUpstreamPreconnectRatio, predictivePreconnectRatio),
  };
}

function milliseconds(duration: string | undefined, otherwise: number): number {
  return duration === undefined ? otherwise : delayOf(duration) || Infinity;
}
