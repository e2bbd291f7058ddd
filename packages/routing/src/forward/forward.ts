import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { RetryPolicy } from '@edge-gateway/core';
import type { LocalEnd } from '../format/local-end.ts';
import type { TrailerRules } from '../http1/trailers.ts';
import type { StreamLimits } from '../route/options/stream-limits.ts';
import type { AttemptObserver } from '../upstream/attempt.ts';
import type { ForwardFailure } from '../upstream/failure.ts';
import type { Host } from '../upstream/hosts/host.ts';
import type { PickContext } from '../upstream/hosts/pick-context.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { WebSocketTunnel } from '../websocket/websocket-tunnel.ts';

/** The request as sent upstream, and callbacks for the response. Call its methods as methods: they use `this`. */
export interface ForwardHead {
  readonly method: string;
  /** Path and query, canonical and rewritten. */
  readonly path: string;
  /**
   * Flat `[name, value, …]`, complete except for framing: includes `host`, forwarded headers and recorded changes,
   * but no hop-by-hop headers. The forwarder adds `content-length` or `transfer-encoding`.
   */
  readonly headers: readonly string[];
  /** Headers as the client wrote them, flat, if their names are sent in the same case. Default: names are sent as in `headers`. */
  readonly writtenNames?: readonly string[] | undefined;
  /** The host, if the caller picked it already (its name is in the `host` header). Default: `upstream.pick(pickContext)`. */
  readonly endpoint?: Host;
  /** What the choice of the host depends on. */
  readonly pickContext?: PickContext;
  /** True forwards interim responses (1xx) of the upstream, and `Expect: 100-continue` of the client. Default: false. */
  readonly passesInterim?: boolean;
  /** How trailers are forwarded, if the upstream has them enabled too. Default: they are dropped in both directions. */
  readonly trailers?: TrailerRules | undefined;
  /** Trailers of the request with these names are dropped: the gateway sets or removes such headers. Names are in lower case with `-` for `_`. */
  readonly guardedNames?: readonly ReadonlySet<string>[] | undefined;
  /** Sent instead of the body of the request, which was already read. Its length is the content-length. */
  readonly body?: Buffer;
  /**
   * Milliseconds from the last byte of the request to the last of the response; 0 is no limit. While the request is being
   * sent, it limits each pause.
   */
  readonly timeoutMs: number;
  /** Limits of the stream besides `timeoutMs`: 408 before the request is complete, then 504, and after the head the end of the connection. */
  readonly streamLimits?: StreamLimits | undefined;
  /** False: the statistics of the upstream do not count responses by status, nor their time. Default: true. */
  readonly dynamicStats?: boolean;
  /** Retries failed attempts, all within `timeoutMs`. */
  readonly retries?: RetryPolicy | undefined;
  /** Maximum size of a body that can be sent again, in bytes. Default: 1 MiB. A request with a larger one is not retried. */
  readonly replayBytes?: number | undefined;
  /** Called before each retry, so that `headers` can change, with its number from 2 on, the host, and the time since the start. */
  onRetry?(attempt: number, host: Host, elapsedMs: number): void;
  /**
   * Called once before the response head is written, with the flat headers without hop-by-hop ones; returns the list to write. `host` is the one that responded.
   * If it throws, the response is a 502; for an invalid list the connection is aborted.
   */
  onResponseHead(status: number, headers: string[], host: Host): string[];
  /** Called with the trailers of the response, flat, before they are sent. */
  onTrailers?(trailers: readonly string[]): void;
  /** Called with the outcome of each attempt, before `onResponseHead` or `onDone`. */
  readonly onAttempt?: AttemptObserver | undefined;
  /** Called exactly once, when nothing more will be written to the response by the forwarder. */
  onDone(outcome: ForwardOutcome): void;
}

/** The result of an exchange. With `failure`, nothing was written to the response, and the caller responds. */
export interface ForwardOutcome {
  readonly failure?: ForwardFailure;
  /** True if the response head was sent but the body could not be completed: the connection was destroyed. */
  readonly aborted?: boolean;
  /** Envoy's response flag (`UF`, `UC`, `UT`, `UH`, `DC`, `UPE`), empty on success (reference: routing 5.6). */
  readonly flags: string;
  /** Response code details, as Envoy writes them; never sent to the client. */
  readonly details?: string | undefined;
  /** Text of the error of the connection, for the log; never sent to the client. */
  readonly cause?: string | undefined;
  /** Number of attempts; 0 if no endpoint was picked. */
  readonly attempts: number;
  /** `address:port` of the endpoint (`[address]:port` for IPv6), if one was picked. */
  readonly endpoint?: string;
  /** This side of the last connection to it; unknown if none was opened, or over a Unix socket. */
  readonly local?: LocalEnd | undefined;
  /** Bytes of the body that were sent to the client. */
  readonly bytesSent: number;
  /** Bytes of the body that were received from the client. */
  readonly bytesReceived: number;
}

/** Sends one request to an endpoint of `upstream` and streams the response back. */
export type Forward = (req: IncomingMessage, res: ServerResponse, upstream: Upstream, head: ForwardHead) => void;

/** The response of an upstream that rejects an upgrade. */
export interface UpstreamReply extends Readable {
  readonly statusCode?: number | undefined;
  /** Flat `[name, value, …]`. */
  readonly rawHeaders: readonly string[];
  readonly headers: { readonly connection?: string | undefined };
  /** Calls `onIdle` when the connection is idle. */
  setTimeout(delayMs: number, onIdle: () => void): unknown;
}

/** The request of an upgrade, as sent upstream. */
export interface UpgradeTarget {
  readonly upstream: Upstream;
  /** Path and query, canonical and rewritten. */
  readonly path: string;
  /** Flat, without hop-by-hop headers; the forwarder adds `connection` and `upgrade`. */
  readonly headers: readonly string[];
  /** The host, if the caller picked it already. Default: `upstream.pick(pickContext)`. */
  readonly endpoint?: Host;
  /** What the choice of the host depends on. */
  readonly pickContext?: PickContext;
  /**
   * Milliseconds until the response to the upgrade, and the end of one other than 101; 0 is no limit. An upgraded connection is not
   * limited. Default 15,000.
   */
  readonly timeoutMs?: number;
  /** Milliseconds since the epoch, for the expiry of tokens. Default: the system clock. */
  readonly now?: () => number;
  /** Limits of the stream: 504 before the response, then the end of both connections. */
  readonly streamLimits?: StreamLimits | undefined;
  /** Retries failed attempts, all within `timeoutMs`: nothing of the client is sent upstream before the tunnel is open. */
  readonly retries?: RetryPolicy | undefined;
  /** Set for a CONNECT request, which is forwarded as CONNECT or terminated to a TCP connection. Default: WebSocket handshake. */
  readonly tunnel?: 'forward' | 'terminate' | undefined;
  /** True if the client uses HTTP/2. */
  readonly isHttp2?: boolean;
  /**
   * Returns the headers of the response that opens a tunnel, from those of the upstream, flat. Default: they are sent unchanged. If it
   * throws, the response is that of a `GatewayError`, else a 502.
   */
  onTunnel?(status: number, headers: string[], host: Host): string[] | Promise<string[]>;
  /** Called before each retry, so that `headers` can change, with its number from 2 on, the host, and the time since the start. */
  onRetry?(attempt: number, host: Host, elapsedMs: number): void;
  /** Writes a response that rejects the upgrade to the client. Default: it is relayed unchanged. */
  onResponse?(response: UpstreamReply, host: Host): void;
  /** Responds to a failure before the upgrade; `onDone` is not called then. Default: a short text. */
  onFailure?(failure: ForwardFailure, outcome: UpgradeOutcome): void;
  /** Called when a WebSocket is open, with what closes it on both sides; before `onDone`. */
  onOpen?(tunnel: WebSocketTunnel): void;
  /** Called once at the end, with the status sent to the client (101 for a successful upgrade) and details for the log. */
  onDone?(outcome: UpgradeOutcome): void;
}

/** The result of an upgrade, after its connections have closed. */
export interface UpgradeOutcome {
  readonly status: number;
  /** Number of attempts; 0 if no endpoint was picked. */
  readonly attempts: number;
  readonly flags: string;
  readonly details?: string;
  /** Text of the error of the connection, for the log; never sent to the client. */
  readonly cause?: string | undefined;
  readonly endpoint?: string;
  /** This side of the connection to it. */
  readonly local?: LocalEnd | undefined;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** Forwards an upgrade (WebSocket, CONNECT) to an endpoint of an upstream. */
export type ForwardUpgrade = (req: IncomingMessage, socket: Duplex, head: Buffer, to: UpgradeTarget) => void;
