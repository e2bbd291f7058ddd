/** Why a check failed, by the names of Envoy's event log. */
export type CheckFailureType = 'ACTIVE' | 'PASSIVE' | 'NETWORK' | 'NETWORK_TIMEOUT';

/** The effect of one check on the health of its endpoint: none, none yet because of a threshold, or a change. */
export type Transition = 'unchanged' | 'pending' | 'changed';

/** Successes and failures in a row until the health changes. */
export interface Thresholds {
  readonly healthy: number;
  readonly unhealthy: number;
}

/**
 * The health of one endpoint by its checks. It is unhealthy until the first check passes, which makes it healthy at once. Afterwards
 * the thresholds apply, except to responses that indicate a failure: one makes the endpoint unhealthy at once.
 */
export class HealthState {
  /** False after the first check. */
  first = true;
  healthy: boolean;
  readonly #thresholds: Thresholds;
  #passed = 0;
  #failed = 0;

  /** `healthy` is what to assume until the first check. */
  constructor(thresholds: Thresholds, healthy = false) {
    this.#thresholds = thresholds;
    this.healthy = healthy;
  }

  pass(): Transition {
    const { first } = this;
    this.first = false;
    this.#failed = 0;
    if (this.healthy) return first ? 'changed' : 'unchanged';
    if (!first && ++this.#passed < this.#thresholds.healthy) return 'pending';
    this.healthy = true;
    return 'changed';
  }

  fail(type: CheckFailureType): Transition {
    const { first } = this;
    this.first = false;
    this.#passed = 0;
    if (!this.healthy) return first ? 'changed' : 'unchanged';
    const counted = type === 'NETWORK' || type === 'NETWORK_TIMEOUT';
    if (!first && counted && ++this.#failed < this.#thresholds.unhealthy) return 'pending';
    this.#failed = 0;
    this.healthy = false;
    return 'changed';
  }
}
