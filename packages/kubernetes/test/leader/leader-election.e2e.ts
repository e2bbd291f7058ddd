import { silentLoggers } from '@edge-gateway/core';
import {
  createClusterClient,
  createLeaderElection,
  type ClusterClient,
  type LeaderElection,
  type LeaderTiming,
} from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';

const TIMING: LeaderTiming = { leaseMs: 3_000, renewMs: 2_000, retryMs: 200 };

describe('the election of a leader', () => {
  let api: KubernetesApi;
  let client: ClusterClient;
  let elections: LeaderElection[];
  let name = 0;

  before(async function () {
    api = await startKubernetes(this);
    client = await createClusterClient({ kubeconfig: [api.kubeconfig] });
  });
  beforeEach(() => {
    elections = [];
    name += 1;
  });
  afterEach(() => Promise.all(elections.map((election) => election.close())));
  after(async () => {
    await client?.close();
    await api?.close();
  });

  function join(identity: string, changes: string[] = [], own: ClusterClient = client): LeaderElection {
    const election = createLeaderElection({
      client: own,
      lease: { namespace: 'default', name: `lease-${name}` },
      identity,
      log: silentLoggers.get('main'),
      onChange: (isLeader) => changes.push(`${identity} ${isLeader ? 'leads' : 'lost'}`),
      timing: TIMING,
    });
    elections.push(election);
    election.start();
    return election;
  }

  const leaders = (): number => elections.filter((election) => election.isLeader()).length;

  it('elects exactly one of several', async () => {
    const changes: string[] = [];
    for (const identity of ['a', 'b', 'c']) join(identity, changes);
    await until(() => leaders() === 1);
    const end = performance.now() + 2 * TIMING.leaseMs;
    await until(() => {
      expect(leaders()).to.be.at.most(1);
      return performance.now() > end;
    });
    expect(changes).to.have.length(1);
  });

  it('hands over at once when the leader closes', async () => {
    const changes: string[] = [];
    const first = join('a', changes);
    await until(() => first.isLeader());
    const second = join('b', changes);
    const since = performance.now();
    await first.close();
    await until(() => second.isLeader());
    expect(performance.now() - since).to.be.lessThan(TIMING.leaseMs);
    expect(changes).to.deep.equal(['a leads', 'a lost', 'b leads']);
  });

  it('never has two leaders when the leader cannot reach the API server', async () => {
    const own = await createClusterClient({ kubeconfig: [api.kubeconfig] });
    let isCut = false;
    const cut: ClusterClient = {
      ...own,
      send: (request) => (isCut ? Promise.reject(new Error('cut off')) : own.send(request)),
    };
    const first = join('a', [], cut);
    await until(() => first.isLeader());
    const second = join('b');
    isCut = true;
    await until(() => {
      expect(leaders()).to.be.at.most(1);
      return second.isLeader();
    });
    expect(first.isLeader()).to.equal(false);
    isCut = false;
    await own.close();
  });

  it('does not trust the clock of the holder', async () => {
    for (const renewTime of ['2001-01-01T00:00:00.000000Z', '2099-01-01T00:00:00.000000Z']) {
      const lease = `lease-${name}`;
      const spec = { holderIdentity: 'other', leaseDurationSeconds: 3, renewTime };
      const manifest = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: lease }, spec };
      await api.apply(JSON.stringify(manifest));
      const since = performance.now();
      const election = join('a');
      await until(() => election.isLeader());
      // A whole lease after it was first seen, whatever its time says.
      expect(performance.now() - since).to.be.within(TIMING.leaseMs, 3 * TIMING.leaseMs);
      await election.close();
      name += 1;
    }
  });

  it('gives up leadership while the API server is away, and regains it', async () => {
    const changes: string[] = [];
    const election = join('a', changes);
    await until(() => election.isLeader());
    await api.kill();
    await until(() => !election.isLeader());
    await until(() => changes.length === 2);
    await api.start();
    await until(() => election.isLeader());
    expect(changes).to.deep.equal(['a leads', 'a lost', 'a leads']);
  });

  it('loses leadership to somebody who takes the lease by force', async () => {
    const election = join('a');
    await until(() => election.isLeader());
    const patch = '{"spec":{"holderIdentity":"thief","leaseDurationSeconds":60}}';
    await api.kubectl(['patch', 'lease', `lease-${name}`, '--type=merge', '-p', patch]);
    await until(() => !election.isLeader());
  });
});
