import type { IncomingMessage } from 'node:http';
import type { ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { LocalEnd } from '../../format/local-end.ts';
import type { ResponseHead } from '../../http1/response-head.ts';
import type { Cluster } from '../../upstream/cluster.ts';
import type { Host } from '../../upstream/hosts/host.ts';
import type { UpgradeTarget, UpstreamReply } from '../forward.ts';

/** A connection or stream to an upstream whose data belongs to a tunnel. */
export type Tunnel = Socket | ClientHttp2Stream;

/** Receives the events of an attempt: `onConnect` at most once, then one of the others. */
export interface AttemptEvents {
  /** There is a connection to the upstream. */
  onConnect(local?: LocalEnd): void;
  /** The upstream opened the tunnel; its response is not sent to the client yet. */
  onTunnel(head: Pick<ResponseHead, 'status' | 'headers'>, tunnel: Tunnel): void;
  /** The upstream rejected the request. */
  onResponse(response: UpstreamReply): void;
  onError(error: Error): void;
}

/** A request to open a tunnel. */
export interface UpgradeRequest {
  readonly req: IncomingMessage;
  /** The client. */
  readonly socket: Socket;
  readonly to: UpgradeTarget;
  readonly cluster: Cluster;
  /** The requested protocol. */
  readonly protocol: string;
}

export interface AttemptParts extends UpgradeRequest {
  readonly host: Host;
  /** Returns the data that the client sent behind its request, once. */
  takeHead(): Buffer;
  readonly events: AttemptEvents;
}

/**
 * Sends the request to a host. Returns a function that ends the attempt: it stops waiting for a connection, or closes it. Throws what is
 * wrong with the request.
 */
export type SendAttempt = (parts: AttemptParts) => () => void;
