import { status, type Client, type ClientDuplexStream } from '@grpc/grpc-js';
import { startInterval, type TrafficReport } from '@edge-gateway/core';
import type { NodeMessage } from '../protocol/discovery.ts';
import { encodeReport, LoadReporting, type LoadStatsRequest, type LoadStatsResponse } from '../protocol/load-stats.ts';

/** Bounds of the interval that a server wants, in milliseconds. */
const MIN_INTERVAL_MS = 500;
const MAX_INTERVAL_MS = 60_000;
/** Time before reporting is tried again on a connection that serves discovery. */
const RETRY_MS = 30_000;

const { path, requestSerialize, responseDeserialize } = LoadReporting['StreamLoadStats']!;

type Stream = ClientDuplexStream<LoadStatsRequest, LoadStatsResponse>;

/** Returns the traffic since the last report; `undefined` before the first sample. */
export type ReadTraffic = () => Promise<TrafficReport | undefined>;

/**
 * Reports traffic to the control plane of a connection, at the interval that it wants, until it is closed. Reports never delay discovery: one is
 * left out while the last one was not sent, and a server without load reporting receives none.
 */
export function reportLoad(client: Client, node: NodeMessage, read: ReadTraffic): { close(): void } {
  let stream: Stream | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function open(): void {
    const own: Stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    stream = own;
    own.on('data', ({ load_reporting_interval: interval }: LoadStatsResponse) => {
      const wanted = (interval?.seconds ?? 0) * 1000 + (interval?.nanos ?? 0) / 1e6;
      clearInterval(timer);
      timer = startInterval(() => void send(own), Math.min(Math.max(wanted, MIN_INTERVAL_MS), MAX_INTERVAL_MS)).unref();
      void send(own);
    });
    // The status follows.
    own.on('error', () => {});
    own.on('status', ({ code }: { readonly code: number }) => {
      clearInterval(timer);
      if (isClosed || code === status.UNIMPLEMENTED) return;
      timer = setTimeout(open, RETRY_MS).unref();
    });
    own.write({ node });
  }

  async function send(to: Stream): Promise<void> {
    const report = await read().catch(() => undefined);
    if (report && stream === to && !isClosed && !to.writableNeedDrain)
      to.write({ cluster_stats: encodeReport(report, node.cluster ?? '') });
  }

  open();
  return {
    close() {
      isClosed = true;
      clearInterval(timer);
      stream?.cancel();
    },
  };
}
