import type { ConnectionFailure, Endpoint, HostState, Locality } from '@edge-gateway/core';
import { hostOf } from '../../http1/authority.ts';
import { EXCLUDED, HEALTH_FLAGS, namesOfFlags, UNHEALTHY, type HealthFlag } from './health-flags.ts';

/** Flags whose end begins a slow start: the host passed its health checks. */
const CHECKED = HEALTH_FLAGS.failedActiveHc | HEALTH_FLAGS.pendingActiveHc;
const NO_LOCALITY: Locality = Object.freeze({});

/**
 * One endpoint of an upstream while the upstream is served: its health, its load and its counters. It stays the same object,
 * with its connections, as long as the endpoint exists.
 */
export class Host implements Endpoint {
  readonly address: string;
  readonly port: number;
  readonly sni: string | undefined;
  /** The DNS name that it was resolved from; otherwise the address. */
  readonly hostname: string;
  /** Its name in the log, see {@link hostOf}. */
  readonly name: string;
  weight = 1;
  /** 0 is the highest. */
  priority = 0;
  locality = NO_LOCALITY;
  metadata: Endpoint['metadata'];
  /** The endpoint as it was last declared. */
  endpoint!: Endpoint;
  /** Bits of {@link HEALTH_FLAGS}. */
  flags = 0;
  /** When it was added, or passed its health checks again: the beginning of its slow start, by `performance.now()`. */
  healthySince = performance.now();
  /** False once it was removed from its upstream. */
  isMember = true;
  /** Requests in progress. */
  active = 0;
  rqTotal = 0;
  rqSuccess = 0;
  rqError = 0;
  rqTimeout = 0;
  cxActive = 0;
  cxTotal = 0;
  cxConnectFail = 0;
  lastFailure: ConnectionFailure | undefined;
  successRate = -1;
  localOriginSuccessRate = -1;
  readonly #onHealth: ((host: Host) => void) | undefined;

  /** `onHealth` is called when a flag changed. */
  constructor(endpoint: Endpoint, onHealth?: (host: Host) => void) {
    this.address = endpoint.address;
    this.port = endpoint.port;
    this.sni = endpoint.sni;
    this.hostname = endpoint.hostname ?? endpoint.address;
    this.name = hostOf(endpoint);
    this.#onHealth = onHealth;
    this.redeclare(endpoint);
  }

  /** Records a failure, for people. */
  failed(reason: string, isTimeout = false): void {
    this.lastFailure = { at: Date.now(), reason, isOver: false, ...(isTimeout && { isTimeout }) };
  }

  /** Marks the last failure as over, after a new connection or a response. */
  recovered(by: 'connection' | 'response'): void {
    const { lastFailure } = this;
    if (!lastFailure || lastFailure.isOver || (lastFailure.isTimeout && by === 'connection')) return;
    this.lastFailure = { ...lastFailure, isOver: true };
  }

  /** Applies a new declaration of the same endpoint. Returns true if something changed. */
  redeclare(endpoint: Endpoint): boolean {
    const { weight, priority = 0, locality = NO_LOCALITY, metadata } = endpoint;
    const same =
      this.weight === weight &&
      this.priority === priority &&
      this.locality === locality &&
      this.metadata === metadata &&
      this.endpoint?.localityWeight === endpoint.localityWeight;
    this.endpoint = endpoint;
    this.weight = weight;
    this.priority = priority;
    this.locality = locality;
    this.metadata = metadata;
    return !same;
  }

  /** Sets or clears a flag; its upstream balances accordingly from the next request on. */
  setFlag(flag: HealthFlag, on: boolean): void {
    const bit = HEALTH_FLAGS[flag];
    const before = this.flags;
    this.flags = on ? before | bit : before & ~bit;
    if (this.flags === before) return;
    if ((before & CHECKED) !== 0 && (this.flags & CHECKED) === 0) this.healthySince = performance.now();
    this.#onHealth?.(this);
  }

  hasFlag(flag: HealthFlag): boolean {
    return (this.flags & HEALTH_FLAGS[flag]) !== 0;
  }

  get alternatives(): readonly string[] | undefined {
    return this.endpoint.alternatives;
  }

  /** True without any flag that takes it out; it may be degraded. */
  get isHealthy(): boolean {
    return (this.flags & (UNHEALTHY | EXCLUDED)) === 0;
  }

  /** Counts the status of a response; 0 if there was none. */
  responded(status: number): void {
    if (status >= 500 || status === 0) this.rqError++;
    else this.rqSuccess++;
  }

  get state(): HostState {
    return {
      address: this.address,
      port: this.port,
      hostname: this.hostname,
      weight: this.weight,
      priority: this.priority,
      locality: this.locality,
      counters: {
        cx_active: this.cxActive,
        cx_connect_fail: this.cxConnectFail,
        cx_total: this.cxTotal,
        rq_active: this.active,
        rq_error: this.rqError,
        rq_success: this.rqSuccess,
        rq_timeout: this.rqTimeout,
        rq_total: this.rqTotal,
      },
      healthFlags: namesOfFlags(this.flags),
      successRate: this.successRate,
      localOriginSuccessRate: this.localOriginSuccessRate,
      ...(this.lastFailure && { lastFailure: this.lastFailure }),
    };
  }
}
