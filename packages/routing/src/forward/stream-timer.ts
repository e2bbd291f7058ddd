import type { RoutingErrorCode } from '../error-codes.ts';
import type { StreamLimits } from '../route/options/stream-limits.ts';
import type { Deadline, Deadlines } from '../upstream/deadlines.ts';

/** A limit that a stream reached: the code, flag and details of its response. */
export interface ReachedLimit {
  readonly code: RoutingErrorCode;
  readonly flags: string;
  readonly details: string;
}

const IDLE: ReachedLimit = { code: 'ERR_ROUTING_STREAM_TIMEOUT', flags: 'SI', details: 'stream_idle_timeout' };
const DURATION: ReachedLimit = { code: 'ERR_ROUTING_STREAM_DURATION', flags: 'DT', details: 'max_duration_timeout' };

/** Watches the pauses and the duration of one stream. `onReached` is called at most once. */
export class StreamTimer {
  readonly #idle: Deadline | undefined;
  readonly #duration: Deadline | undefined;

  constructor(
    deadlines: Deadlines,
    { idleMs = 0, durationMs }: StreamLimits,
    onReached: (limit: ReachedLimit) => void,
  ) {
    const start = (limitMs: number, limit: ReachedLimit): Deadline | undefined => {
      const expire = (): void => {
        this.cancel();
        onReached(limit);
      };
      return limitMs > 0 ? deadlines.start({ expire }, limitMs, performance.now()) : undefined;
    };
    this.#idle = start(idleMs, IDLE);
    this.#duration = start(durationMs, DURATION);
  }

  /** The stream is not idle. */
  progress(): void {
    this.#idle?.restart();
  }

  cancel(): void {
    this.#idle?.cancel();
    this.#duration?.cancel();
  }
}
