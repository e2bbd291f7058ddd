import type { ConnectionRecord } from './connection-record.ts';
import type { LocalEnd } from './local-end.ts';

/** Details of a response from an upstream. */
export const VIA_UPSTREAM = 'via_upstream';

/** The connection of a request, for formats. */
export type RecordedConnection = Readonly<Omit<ConnectionRecord, 'certificates'>> &
  Partial<Pick<ConnectionRecord, 'certificates'>>;

/** A request as matched: canonical, without hop-by-hop headers. */
export interface RequestView {
  readonly method: string;
  /** Value of Host as received, without the port if the listener strips it. */
  readonly authority: string;
  /** The canonical path with its query. */
  readonly path: string;
  /** The canonical path without its query. */
  readonly pathname: string;
  /** Flat, names in lower case. */
  readonly headers: readonly string[];
}

/** The received head of a request. */
export interface RecordedHead extends RequestView {
  readonly requestId: string;
  /** The client, as reported by trusted proxies in front. */
  readonly clientAddress: string;
  /** The path before it was rewritten; otherwise the same as `path`. */
  readonly originalPath: string;
}

/** Names of the selected route and destination; empty if there are none. */
export interface RecordedRoute {
  readonly routeName: string;
  readonly virtualHost: string;
  /** Cluster name. */
  readonly upstream: string;
  /** `envoyMetadata` of the route, by namespace. */
  readonly routeMetadata?: Readonly<Record<string, unknown>> | undefined;
  /** Returns the name of the virtual cluster of a request; empty if there is none. */
  virtualClusterOf?(head: RecordedHead): string;
}

/** The result of a request, as far as it is known. */
export class RequestResult {
  /** `address:port` of the endpoint; empty if none was picked. */
  upstreamHost = '';
  /** This side of the connection to it; unknown without a connection. */
  upstreamLocal: LocalEnd | undefined = undefined;
  /** 0 before it is known. */
  status = 0;
  responseHeaders: readonly string[] = NO_HEADERS;
  /** Flat; those that were sent to the client. */
  responseTrailers: readonly string[] = NO_HEADERS;
  /** Response code details, with Envoy's text if it has one; empty if unknown. */
  details = '';
  /** Response flags; empty on success. */
  flags = '';
  /** Text of the error of the connection to the upstream; empty if there was none. */
  transportFailure = '';
  /** Attempts to send it upstream; 0 if it was not sent. */
  attempts = 0;
  bytesReceived = 0;
  bytesSent = 0;
  durationMs = 0;
  /** Milliseconds from sending to the response head; -1 without a response. */
  upstreamMs = -1;
  /** True if it asked for the health of this proxy. */
  isHealthCheck = false;
  /** Milliseconds until it was sent upstream; -1 if it was not. */
  sentMs = -1;
  /** Milliseconds until its last byte was received; -1 if that is unknown, because no log has it. */
  receivedMs = -1;
  /** Body of a response of the gateway itself. */
  localBody: string | Buffer = '';
  /** Why a connection was closed; empty for a request. */
  termination = '';
}

const NO_HEADERS: readonly string[] = [];

/** The trace of a request. */
export interface RecordedTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

/** The data of one request and its response for formats and filters. */
export interface RequestRecord {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly connection: RecordedConnection;
  readonly head: RecordedHead;
  readonly route: RecordedRoute;
  readonly result: Readonly<RequestResult>;
  /** Dynamic metadata by namespace. */
  readonly metadata: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Missing without tracing. */
  readonly trace?: RecordedTrace | undefined;
}

/** Returns the value of an operator for a request; `undefined` where there is none. */
export type Operator = (record: RequestRecord) => string | number | undefined;

/** The metadata of a request without any. */
export const NO_METADATA: RequestRecord['metadata'] = new Map();

/** The names of a request without a route. */
export const NO_ROUTE: RecordedRoute = { routeName: '', virtualHost: '', upstream: '' };

/** The result of a request without a response. */
export const NO_RESULT: Readonly<RequestResult> = new RequestResult();
