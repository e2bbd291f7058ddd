import { createLocalBucket, type Counter, type Listener, type LocalBucket, type Metrics } from '@edge-gateway/core';

const PREFIX = 'network_local_rate_limiter';

/** Limits the new connections of a listener. */
export class ConnectionRate {
  readonly #limited: Counter;
  readonly #processes: number | undefined;
  #written = '';
  #bucket: LocalBucket | undefined;

  /** Each of `processes` accepts its share; default: one. */
  constructor(metrics: Metrics, processes?: number) {
    this.#processes = processes;
    this.#limited = metrics.counter({
      path: `local_rate_limit.${PREFIX}.rate_limited`,
      metric: 'envoy_local_rate_limit_rate_limited',
      labels: { envoy_local_network_ratelimit_prefix: PREFIX },
    });
  }

  /** Applies the newest settings; an unchanged limit keeps its tokens. */
  update({ networkLocalRatelimit: limit }: Listener['httpOptions']): void {
    const written = JSON.stringify(limit ?? '');
    if (written === this.#written) return;
    this.#written = written;
    this.#bucket = limit && createLocalBucket(limit, this.#processes);
  }

  /** Counts a connection. Returns false if it must be closed. */
  accepts(): boolean {
    if (!this.#bucket || this.#bucket.take(performance.now())) return true;
    this.#limited.value++;
    return false;
  }
}
