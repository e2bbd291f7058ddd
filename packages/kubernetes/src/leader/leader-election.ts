import { startTimer, timeoutSignal, wait, type Logger } from '@edge-gateway/core';
import { connectionProblem, type ClusterClient } from '../client/cluster-client.ts';
import { leaseStore, type LeaseName, type LeaseRecord } from './lease-record.ts';

/** Options of {@link createLeaderElection}. */
export interface LeaderElectionOptions {
  readonly client: Pick<ClusterClient, 'send'>;
  readonly lease: LeaseName;
  /** Unique for this process, e.g. the name of the pod with a random suffix. */
  readonly identity: string;
  readonly log: Logger;
  /** Called with each change of leadership. */
  onChange(isLeader: boolean): void;
  readonly timing?: Partial<LeaderTiming>;
}

/** Defaults are those of Kubernetes' own controllers. */
export interface LeaderTiming {
  /** Others wait so long after the last renewal that they saw. Default 15 s. */
  readonly leaseMs: number;
  /** Without a renewal for so long, leadership is given up. Default 10 s; less than `leaseMs`. */
  readonly renewMs: number;
  /** Between attempts. Default 2 s. */
  readonly retryMs: number;
}

/** Takes part in the election of one leader among several processes. */
export interface LeaderElection {
  /** False from the moment at which another process may lead. */
  isLeader(): boolean;
  start(): void;
  /** Gives up leadership, so that another process takes over at once. */
  close(): Promise<void>;
}

const DEFAULT_TIMING: LeaderTiming = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };

/**
 * Elects one leader by a `Lease`. Times of other machines are never compared: a lease has expired if it did not change for its duration by the
 * clock of the observer, and a leader that could not renew it gives up earlier by its own clock. Clocks may be wrong by any amount.
 *
 * @example
 * const election = createLeaderElection({ client, lease: { namespace: 'gw-system', name: 'gw' }, identity, log, onChange });
 * election.start();
 */
export function createLeaderElection(options: LeaderElectionOptions): LeaderElection {
  const { client, lease, identity, log, onChange } = options;
  const { leaseMs, renewMs, retryMs } = { ...DEFAULT_TIMING, ...options.timing };
  const store = leaseStore(client, lease);
  const closing = new AbortController();
  const { signal } = closing;
  /** The lease as it was last read, and when it was seen to change. */
  let observed: { readonly record: LeaseRecord; readonly at: number } | undefined;
  let renewedAt = -Infinity;
  let led = false;
  let expiry: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let reported: string | undefined;

  const isLeader = (): boolean => performance.now() - renewedAt < renewMs;

  function announce(): void {
    const leads = isLeader();
    if (leads === led) return;
    led = leads;
    log.info(
      { lease: `${lease.namespace}/${lease.name}`, identity },
      leads ? 'leadership acquired' : 'leadership lost',
    );
    onChange(leads);
  }

  function renewed(at: number): void {
    renewedAt = at;
    clearTimeout(expiry);
    expiry = startTimer(announce, Math.max(0, at + renewMs - performance.now()) + 1);
    announce();
  }

  function lost(): void {
    renewedAt = -Infinity;
    clearTimeout(expiry);
    announce();
  }

  function observe(record: LeaseRecord): void {
    if (record.metadata.resourceVersion === observed?.record.metadata.resourceVersion) return;
    observed = { record, at: performance.now() };
  }

  function mayTake({ spec = {} }: LeaseRecord): boolean {
    const { holderIdentity, leaseDurationSeconds } = spec;
    if (!holderIdentity || holderIdentity === identity) return true;
    const duration = Math.max(leaseMs, (leaseDurationSeconds ?? 0) * 1000);
    return observed !== undefined && performance.now() - observed.at > duration;
  }

  async function attempt(): Promise<void> {
    const before = await store.read(signal);
    if (before) observe(before);
    if (before && !mayTake(before)) return lost();
    // The time before the request: others may see the renewal at any moment of it.
    const at = performance.now();
    const written = await store.write(specOf(before), before, signal);
    if (!written) return lost();
    observe(written);
    return renewed(at);
  }

  function specOf(before: LeaseRecord | undefined): LeaseRecord['spec'] {
    const now = new Date().toISOString().replace('Z', '000Z');
    const { holderIdentity, acquireTime = now, leaseTransitions = 0 } = before?.spec ?? {};
    const isOwn = holderIdentity === identity;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1000),
      acquireTime: isOwn ? acquireTime : now,
      renewTime: now,
      leaseTransitions: before && !isOwn ? leaseTransitions + 1 : leaseTransitions,
    };
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await attempt();
        reported = undefined;
      } catch (error) {
        if (signal.aborted) return;
        const reason = connectionProblem(error);
        if (reason !== reported)
          log.warn({ lease: `${lease.namespace}/${lease.name}`, reason }, 'leader election failed');
        reported = reason;
      }
      await wait(retryMs * (0.8 + Math.random() * 0.4), undefined, { signal }).catch(() => undefined);
    }
  }

  /** Leaves the lease to others. */
  async function release(): Promise<void> {
    const { record } = observed ?? {};
    if (!isLeader() || record?.spec?.holderIdentity !== identity) return;
    const spec = { ...record.spec, holderIdentity: '', leaseDurationSeconds: 1 };
    await store.write(spec, record, timeoutSignal(retryMs)).catch(() => undefined);
  }

  return {
    isLeader,
    start() {
      running ??= run();
    },
    async close() {
      closing.abort();
      await running;
      const released = release();
      lost();
      await released;
    },
  };
}
