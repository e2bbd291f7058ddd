import type { ConnectionRecord } from './connection-record.ts';

/** Details of a response that came from an upstream. */
export const VIA_UPSTREAM = 'via_upstream';

/** The connection of a request, as formats show it. */
export type RecordedConnection = Readonly<Pick<ConnectionRecord, keyof ConnectionRecord>>;

/** A request as matching sees it: canonical, cleaned of what belongs to one connection only. */
export interface RequestView {
  readonly method: string;
  /** Value of Host as written, its port cut off where the listener says so. */
  readonly authority: string;
  /** The canonical path with its query. */
  readonly path: string;
  /** The canonical path without its query. */
  readonly pathname: string;
  /** Flat, names in lower case. */
  readonly headers: readonly string[];
}

/** The head of a request: what came in. */
export interface RecordedHead extends RequestView {
  readonly requestId: string;
  /** The client, as far as proxies in front are trusted to name it. */
  readonly clientAddress: string;
  /** The path before it was rewritten; otherwise the same as `path`. */
  readonly originalPath: string;
}

/** Names of what was decided; empty where nothing was. */
export interface RecordedRoute {
  readonly routeName: string;
  readonly virtualHost: string;
  /** Cluster name. */
  readonly upstream: string;
}

/** How a request ended, as far as it is known. */
export class RequestResult {
  /** `address:port` of the endpoint; empty when none was chosen. */
  upstreamHost = '';
  /** 0 before it is known. */
  status = 0;
  responseHeaders: readonly string[] = NO_HEADERS;
  /** Why the response is as it is, in Envoy's words where there are some; empty when nothing is known. */
  details = '';
  /** Response flags; empty when all went well. */
  flags = '';
  bytesReceived = 0;
  bytesSent = 0;
  durationMs = 0;
  /** Milliseconds from sending to the response head; -1 when none came. */
  upstreamMs = -1;
}

const NO_HEADERS: readonly string[] = [];

/** All that formats and filters may ask of one request and its response. */
export interface RequestRecord {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly connection: RecordedConnection;
  readonly head: RecordedHead;
  readonly route: RecordedRoute;
  readonly result: Readonly<RequestResult>;
  /** Dynamic metadata by namespace. */
  readonly metadata: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

/** The metadata of a request without any. */
export const NO_METADATA: RequestRecord['metadata'] = new Map();

/** The names of a request without a route. */
export const NO_ROUTE: RecordedRoute = { routeName: '', virtualHost: '', upstream: '' };

/** The result of a request without a response. */
export const NO_RESULT: Readonly<RequestResult> = new RequestResult();
