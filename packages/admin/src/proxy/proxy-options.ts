import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AdminToken } from '../http/admin-token.ts';
import type { TrafficHistory } from '../page/traffic-history.ts';
import type { UsedCertificates } from './used-certificates.ts';
import type { Explain } from '../page/written-request.ts';
import type { Context, HostState, Next, RequestRecordings, ResourceRef, Snapshot } from '@edge-gateway/core';

/** The body of `/ready`; only `LIVE` is 200, the others are 503. */
export type Readiness = 'LIVE' | 'PRE_INITIALIZING' | 'INITIALIZING' | 'DRAINING';

/** An address the data plane listens on at this moment; `name` is that of the snapshot's listener. */
export interface ListeningAddress {
  readonly name: string;
  readonly address: string;
  readonly port: number;
}

/** Options of the proxy admin. Without `quit`, `drain`, … their endpoints do not exist. */
export interface ProxyAdminOptions {
  /** Returns true while a control plane is connected. Default: once there is a snapshot. */
  isConnected?(): boolean;
  readonly context: Pick<Context, 'log' | 'metrics' | 'secrets' | 'now'>;
  /** The current snapshot; `undefined` before the first. */
  snapshot(): Snapshot | undefined;
  /** The certificates of the flags of the process. Default none. */
  certificates?(): readonly UsedCertificates[];
  /** When the current snapshot was applied. */
  lastUpdated(): Date;
  listeners(): readonly ListeningAddress[];
  readiness(): Readiness;
  readonly info: {
    readonly version: string;
    /** The commit that it was built from. Default: not shown. */
    readonly commit?: string;
    /** Milliseconds since the epoch. */
    readonly startedAt: number;
    /** Shown by `/server_info`; keep secrets out. */
    readonly commandLineOptions: Readonly<Record<string, unknown>>;
  };
  /** Ends the process gracefully: `/quitquitquit`. Called after the response was sent. */
  quit?(): void;
  /** Stops accepting connections: `/drain_listeners`; with `graceful`, open connections finish their requests. */
  drain?(how: { readonly graceful: boolean }): void | Promise<void>;
  /** `false` makes `readiness()` return DRAINING, `true` reverts that: `/healthcheck/fail` and `/healthcheck/ok`. */
  setHealthy?(healthy: boolean): void;
  /** Reopens log files after they were moved: `/reopen_logs`. */
  reopenLogs?(): void | Promise<void>;
  /** The hosts of a cluster. Without it `/clusters` shows the declared endpoints, with counters only for a single one. */
  hostStates?(cluster: string): readonly HostState[] | undefined;
  /**
   * Brings the statistics or the hosts up to date, if they are those of other processes. Called before responses with them. Default: they are
   * those of this process.
   */
  refresh?(what: 'stats' | 'hosts'): Promise<void>;
  /** Records single requests: `/trace`. */
  readonly recordings?: RequestRecordings;
  /** The GraphQL APIs with a page to run queries: `/graphql`. */
  readonly graphql?: GraphQLExplorer;
  /** The traffic that the status page shows, see `recordTraffic`. Default: it shows no traffic of the last hour. */
  readonly history?: TrafficHistory | undefined;
  /** Explains requests on the status page. Default: it does not. */
  readonly explain?: Explain;
  /** The required token; see `readAdminToken`. Default: no authentication. */
  readonly token?: AdminToken | undefined;
  /**
   * Names, beside `localhost` and IP addresses, that the Host header may have. Default none. `any` allows every name, for a port that scrapers reach by
   * its DNS name: it must then listen on no loopback address, which web pages could reach by DNS rebinding.
   */
  readonly allowedHosts?: readonly string[] | 'any';
}

/** The APIs that the explorer shows. */
export interface GraphQLExplorer {
  /** The APIs that are currently served. */
  apis(): readonly ResourceRef[];
  /** Returns a query to begin with. Default: the page begins with a comment. */
  example?(api: ResourceRef, req: IncomingMessage): Promise<string | undefined>;
  /** Handles the explorer's requests to one API; introspection is allowed. */
  serve(api: ResourceRef): ((req: IncomingMessage, res: ServerResponse, next: Next) => void) | undefined;
}
