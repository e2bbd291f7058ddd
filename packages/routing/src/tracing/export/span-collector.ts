import type { Counter } from '@edge-gateway/core';
import { createBatches } from '../../collect/batches.ts';
import type { Collector, CollectorParts } from '../../collect/collectors.ts';
import type { Span } from '../span.ts';

/** Receives the finished spans of sampled requests. Never throws and never waits. */
export interface SpanCollector extends Collector {
  add(span: Span): void;
}

/** Sends spans in the form of a provider. */
export interface SpanSender {
  send(spans: readonly Span[]): Promise<void>;
  close?(): void;
}

/** Maximum number of queued spans; beyond it they are dropped and counted. */
export const MAX_QUEUED_SPANS = 2_048;
const BATCH_SIZE = 512;
const INTERVAL_MS = 1_000;
/** Maximum time of a call to a collector, in milliseconds. */
export const CALL_TIMEOUT_MS = 5_000;

/** Creates the collector of a provider; `name` is its cluster in logs and statistics. */
export function createSpanCollector(
  { context }: CollectorParts,
  { name, sender, maxQueued }: { readonly name: string; readonly sender: SpanSender; readonly maxQueued?: number },
): SpanCollector {
  const log = context.log.get('tracing');
  const sent = counterOf(context, 'spans_sent', name);
  const limit = maxQueued || MAX_QUEUED_SPANS;
  const batches = createBatches<Span>({
    send: async (spans) => {
      await sender.send(spans);
      sent.value += spans.length;
    },
    dropped: counterOf(context, 'spans_dropped', name),
    onFailure: (reason) => log.warn({ collector: name, reason }, 'spans could not be sent'),
    maxQueued: limit,
    batchSize: Math.min(BATCH_SIZE, limit),
    intervalMs: INTERVAL_MS,
  });
  return {
    add: batches.add,
    async close(limitMs) {
      await batches.flush(limitMs);
      sender.close?.();
    },
  };
}

function counterOf({ metrics }: CollectorParts['context'], what: string, collector: string): Counter {
  const metric = `tracing_${what}`;
  return metrics.counter({ path: `tracing.${collector}.${what}`, metric, labels: { collector } });
}
