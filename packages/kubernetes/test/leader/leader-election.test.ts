import { once } from 'node:events';
import { silentLoggers } from '@edge-gateway/core';
import { createLeaderElection, type ClusterClient, type LeaderElection } from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { ApiError } from '../../src/client/api-error.ts';

interface Spec {
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
}

const TIMING = { leaseMs: 15_000, renewMs: 10_000, retryMs: 1 };

describe('an elected leader', () => {
  const { now } = performance;
  /** How far the clock is ahead, in milliseconds. */
  let ahead: number;
  let spec: Spec | undefined;
  let version: number;
  let reads: number;
  /** Runs before a write takes effect. */
  let beforeWrite: () => void;
  /** Reads that are answered. */
  let maxReads: number;
  let election: LeaderElection;

  const client = {
    async send({ method, body, signal }: { method?: string; body?: { spec: Spec }; signal: AbortSignal }) {
      if (method !== undefined) {
        beforeWrite();
        spec = body!.spec;
        version++;
      } else if (++reads > maxReads) {
        await once(signal, 'abort');
        throw signal.reason;
      }
      return { metadata: { name: 'gw', namespace: 'gw-system', resourceVersion: String(version) }, spec };
    },
  };

  beforeEach(() => {
    ahead = version = reads = 0;
    spec = undefined;
    beforeWrite = () => {};
    maxReads = Infinity;
    performance.now = () => now.call(performance) + ahead;
    election = createLeaderElection({
      client: client as unknown as ClusterClient,
      lease: { namespace: 'gw-system', name: 'gw' },
      identity: 'a',
      log: silentLoggers.get('main'),
      onChange: () => {},
      timing: TIMING,
    });
  });
  afterEach(async () => {
    await election.close();
    performance.now = now;
  });

  it('waits for a lease that another process holds longer than its own would last', async () => {
    spec = { holderIdentity: 'b', leaseDurationSeconds: 40 };
    election.start();
    await until(() => reads > 1);
    ahead += TIMING.leaseMs + 5_000;
    const before = reads;
    await until(() => reads > before + 2);
    expect(spec.holderIdentity).to.equal('b');
    ahead += 25_000;
    await until(() => election.isLeader());
    expect(spec.holderIdentity).to.equal('a');
  });

  it('leads from the begin of the request that renewed the lease, not from its end', async () => {
    spec = { holderIdentity: '', leaseDurationSeconds: 1 };
    beforeWrite = () => void (ahead += TIMING.renewMs - 2_000);
    maxReads = 1;
    election.start();
    await until(() => spec?.holderIdentity === 'a');
    await until(() => reads > 1);
    expect(election.isLeader()).to.equal(true);
    ahead += 3_000;
    expect(election.isLeader()).to.equal(false);
  });

  it('leads no longer when another process wrote the lease meanwhile', async () => {
    election.start();
    await until(() => election.isLeader());
    beforeWrite = () => {
      throw new ApiError('PUT', { apiStatus: 409, status: { reason: 'Conflict' }, retryAfterMs: undefined });
    };
    await until(() => !election.isLeader());
  });

  it('leads no longer when it is closed, and leaves the lease to others', async () => {
    election.start();
    await until(() => election.isLeader());
    await election.close();
    expect(election.isLeader()).to.equal(false);
    expect(spec!.holderIdentity).to.equal('');
  });

  it('leaves no timer of its renewals, which would delay the end of the process', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
    const before = timers();
    election.start();
    await until(() => version > 20);
    await election.close();
    expect(timers()).to.be.below(before + 10);
  });
});
