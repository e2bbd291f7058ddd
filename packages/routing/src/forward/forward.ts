import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Endpoint } from '@edge-gateway/core';
import type { ForwardFailure } from '../upstream/failure.ts';
import type { Upstream } from '../upstream/upstream.ts';

/** The request as it goes upstream, and what is to happen with the response. Call its methods as methods: they use `this`. */
export interface ForwardHead {
  readonly method: string;
  /** Path and query, canonical and rewritten. */
  readonly path: string;
  /**
   * Flat `[name, value, …]`, complete but for framing: `host`, forwarded headers and recorded changes are in it,
   * hop-by-hop headers are not. The forwarder adds `content-length` or `transfer-encoding` itself.
   */
  readonly headers: readonly string[];
  /** The endpoint to use when the caller had to pick it already (its name is in `host`); else `upstream.pick()`. */
  readonly endpoint?: Endpoint;
  /** Sent in place of the body of the request, which was already read. Its length is the content-length. */
  readonly body?: Buffer;
  /**
   * Milliseconds from the last byte of the request to the last of the response; 0 is none. While the request is still being
   * sent it limits each pause.
   */
  readonly timeoutMs: number;
  /**
   * Called once before the response head is written, with the flat headers without hop-by-hop ones; gives the list to write.
   * Where it throws the response is a 502; a list that cannot be written breaks the connection off.
   */
  onResponseHead(status: number, headers: string[]): string[];
  /** Called exactly once, when nothing more will be written to the response by the forwarder. */
  onDone(outcome: ForwardOutcome): void;
}

/** How an exchange ended. With `failure` nothing was written to the response, and the caller responds. */
export interface ForwardOutcome {
  readonly failure?: ForwardFailure;
  /** True when the response head was sent but the body could not be finished: the connection was destroyed. */
  readonly aborted?: boolean;
  /** Envoy's response flag (`UF`, `UC`, `UT`, `UH`, `DC`, `UPE`), empty when all went well (reference: routing 5.6). */
  readonly flags: string;
  /** What to log; never shown to the client. */
  readonly details?: string;
  /** `address:port` of the endpoint, `[address]:port` of IPv6, when one was chosen. */
  readonly endpoint?: string;
  /** Milliseconds from sending to the response head; -1 when none came. */
  readonly upstreamMs: number;
  /** Bytes of the body that went to the client. */
  readonly bytesSent: number;
  /** Bytes of the body that came from the client. */
  readonly bytesReceived: number;
}

/** Sends one request to an endpoint of `upstream` and streams the response back. */
export type Forward = (req: IncomingMessage, res: ServerResponse, upstream: Upstream, head: ForwardHead) => void;

/** Where an upgrade goes, and how it looks there. */
export interface UpgradeTarget {
  readonly upstream: Upstream;
  /** Path and query, canonical and rewritten. */
  readonly path: string;
  /** Flat, without hop-by-hop headers; the forwarder adds `connection` and `upgrade`. */
  readonly headers: readonly string[];
  /** The endpoint to use when the caller had to pick it already; else `upstream.pick()`. */
  readonly endpoint?: Endpoint;
  /** Called once at the end: with the status sent to the client (101 when the upgrade went through), and what to log. */
  onDone?(outcome: UpgradeOutcome): void;
}

export interface UpgradeOutcome {
  readonly status: number;
  readonly flags: string;
  readonly details?: string;
  readonly endpoint?: string;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** Hands an upgrade (WebSocket) to an endpoint of an upstream. */
export type ForwardUpgrade = (req: IncomingMessage, socket: Duplex, head: Buffer, to: UpgradeTarget) => void;
