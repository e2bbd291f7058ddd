import { status, type ServerDuplexStream } from '@grpc/grpc-js';
import type { ProxyTraffic, TrafficReport } from '@edge-gateway/core';
import { decodeReport, type LoadStatsRequest, type LoadStatsResponse } from '../protocol/load-stats.ts';
import { onEnd } from './call-end.ts';
import { ForbiddenProxy, type AuthorizeNode } from './node-authorization.ts';
import { checkSameNode, identityOf, type NodeIdentity } from './node-identity.ts';

/** Reports that arrive faster than this share of the interval are ignored. */
const MIN_SHARE = 0.5;
/** Number of missing reports after which the last one is stale. */
const STALE_AFTER = 3;

/** Options of {@link createLoadReports}. */
export interface LoadReportsOptions {
  readonly now: () => number;
  readonly intervalMs: number;
  /** Maximum number of nodes. There may be twice as many streams: the old stream of a node may end after its new one begins. More are rejected. */
  readonly maxNodes: number;
}

/** The last report of each node. It is kept as long as the node reports. */
export interface LoadReports {
  serve(call: Call, authorize: AuthorizeNode): void;
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

  /** Number of all streams with a node. */
  let open = 0;

  /** Returns the identity of a new stream. Throws if there is none, or it is not allowed. */
  function identify(call: Call, node: LoadStatsRequest['node'], authorize: AuthorizeNode): NodeIdentity {
    const identity = identityOf(node);
    authorize(call, identity);
    const isFull = streams.has(idOf(identity)) ? open >= 2 * maxNodes : streams.size >= maxNodes;
    if (isFull) throw new TooManyNodes(`more than ${maxNodes} proxies`);
    return identity;
  }

  function serve(call: Call, authorize: AuthorizeNode): void {
    let identity: NodeIdentity | undefined;
    let isOver = false;
    const own: { reported: Reported | undefined; receivedAt: number } = { reported: undefined, receivedAt: -Infinity };
    const close = (): void => {
      if (!identity || isOver) return;
      isOver = true;
      open--;
      if (streams.get(idOf(identity)) === own) streams.delete(idOf(identity));
    };
    const fail = (code: number, details: string): void => {
      close();
      isOver = true;
      call.emit('error', { code, details });
    };
    call.on('data', ({ node, cluster_stats: stats = [] }: LoadStatsRequest) => {
      if (isOver) return undefined;
      try {
        if (identity) checkSameNode(identity, node);
        else {
          identity = identify(call, node, authorize);
          open++;
          streams.set(idOf(identity), own);
          call.write({
            send_all_clusters: true,
            load_reporting_interval: { seconds: Math.floor(intervalMs / 1000), nanos: (intervalMs % 1000) * 1e6 },
          });
        }
      } catch (error) {
        return fail(codeOf(error), (error as Error).message);
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

class TooManyNodes extends Error {}

function codeOf(error: unknown): number {
  if (error instanceof TooManyNodes) return status.RESOURCE_EXHAUSTED;
  return error instanceof ForbiddenProxy ? status.PERMISSION_DENIED : status.INVALID_ARGUMENT;
}
