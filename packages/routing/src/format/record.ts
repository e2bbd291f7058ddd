import type { RequestView } from '../route/match/request-view.ts';

/** Details of an answer that came from an upstream. */
export const VIA_UPSTREAM = 'via_upstream';

/** All that formats and filters may ask of one request and its answer. */
export interface RequestRecord extends RequestView {
  /** `HTTP/1.1`. */
  readonly protocol: string;
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** The client, as far as proxies in front are trusted to name it. */
  readonly clientAddress: string;
  /** The other end of the connection. */
  readonly directAddress: string;
  readonly directPort: number;
  readonly localAddress: string;
  readonly localPort: number;
  /** The server name of the TLS handshake; empty without one. */
  readonly serverName: string;
  readonly tlsVersion: string;
  /** The path before it was rewritten; the same as `path` else. */
  readonly originalPath: string;
  readonly routeName: string;
  readonly virtualHost: string;
  /** Cluster name; empty when none was chosen. */
  readonly upstream: string;
  /** `address:port` of the endpoint; empty when none was chosen. */
  readonly upstreamHost: string;
  /** 0 before it is known. */
  readonly status: number;
  readonly responseHeaders: readonly string[];
  /** Why the answer is as it is, in Envoy's words where there are some; empty when nothing is known. */
  readonly details: string;
  /** Response flags; empty when all went well. */
  readonly flags: string;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  readonly durationMs: number;
  /** Milliseconds from sending to the response head; -1 when none came. */
  readonly upstreamMs: number;
  /** Dynamic metadata by namespace. */
  readonly metadata: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}
