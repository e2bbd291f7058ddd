import type { RequestRecord } from './record.ts';

/** Returns the milliseconds until the first byte of the response of the upstream; -1 without one. */
export function respondedMs({ result: { sentMs, upstreamMs } }: RequestRecord): number {
  return upstreamMs < 0 ? -1 : Math.max(sentMs, 0) + upstreamMs;
}

/** Points in time, in milliseconds since the start of a request; -1 if unknown. */
export const POINTS: Readonly<Record<string, (record: RequestRecord) => number>> = {
  DS_RX_BEG: () => 0,
  DS_RX_END: ({ result }) => result.receivedMs,
  US_TX_BEG: ({ result }) => result.sentMs,
  US_RX_BEG: respondedMs,
  DS_TX_BEG: respondedMs,
  DS_TX_END: ({ result }) => result.durationMs,
};
