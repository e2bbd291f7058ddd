import { status, type ServerDuplexStream } from '@grpc/grpc-js';
import type { ProxyTraffic, TrafficReport } from '@edge-gateway/core';
import { decodeReport, type LoadStatsRequest, type LoadStatsResponse } from '../protocol/load-stats.ts';
import { onEnd } from './call-end.ts';
import { identityOf, type NodeIdentity } from './node-identity.ts';

/** Reports that arrive faster than this share of the interval are ignored. */
const MIN_SHARE = 0.5;
/** Number of missing reports after which the last one is stale. */
const STALE_AFTER = 3;

/** Options of {@link createLoadReports}. */
export interface LoadReportsOptions {
  readonly now: () => number;
  readonly intervalMs: number;
  /** Maximum number of streams; more are rejected. */
  readonly maxNodes: number;
}

/** The last report of each node. It is kept as long as the node reports. */
export interface LoadReports {
  serve(call: Call): void;
  /** Returns the last report of a node; `undefined` if there is none. */
  of(identity: NodeIdentity): ProxyTraffic | undefined;
}

type Call = ServerDuplexStream<LoadStatsRequest, LoadStatsResponse>;

interface Reported {
  readonly at: number;
  readonly report: TrafficReport;
}

/** Receives reports of traffic. A report is limited in what it may contain, and a node in how often it may report. */
export function createLoadReports({ now, intervalMs, maxNodes }: LoadReportsOptions): LoadReports {
  /** The newest stream of each node. */
  const streams = new Map<string, { reported: Reported | undefined; receivedAt: number }>();
  const idOf = ({ id, key }: NodeIdentity): string => `${key} ${id}`;

  function serve(call: Call): void {
    let id: string | undefined;
    let isOver = false;
    const own: { reported: Reported | undefined; receivedAt: number } = { reported: undefined, receivedAt: -Infinity };
    const close = (): void => {
      if (id !== undefined && streams.get(id) === own) streams.delete(id);
    };
    const fail = (code: number, details: string): void => {
      isOver = true;
      close();
      call.emit('error', { code, details });
    };
    call.on('data', ({ node, cluster_stats: stats = [] }: LoadStatsRequest) => {
      if (isOver) return undefined;
      if (id === undefined) {
        try {
          id = idOf(identityOf(node));
        } catch (error) {
          return fail(status.INVALID_ARGUMENT, (error as Error).message);
        }
        if (streams.size >= maxNodes && !streams.has(id))
          return fail(status.RESOURCE_EXHAUSTED, `more than ${maxNodes} proxies`);
        streams.set(id, own);
        call.write({
          send_all_clusters: true,
          load_reporting_interval: { seconds: Math.floor(intervalMs / 1000), nanos: (intervalMs % 1000) * 1e6 },
        });
      }
      if (stats.length === 0 || now() - own.receivedAt < intervalMs * MIN_SHARE) return undefined;
      own.receivedAt = now();
      const report = decodeReport(stats);
      if (report) own.reported = { at: now(), report };
      return undefined;
    });
    onEnd(call, close);
  }

  return {
    serve,
    of(identity) {
      const reported = streams.get(idOf(identity))?.reported;
      if (!reported) return undefined;
      return {
        ...reported.report,
        reportedAt: new Date(reported.at).toISOString(),
        isStale: now() - reported.at > STALE_AFTER * intervalMs,
      };
    },
  };
}
