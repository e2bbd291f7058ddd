import { silentLoggers, type ResourceKey, type ResourceStatus, type State } from '@edge-gateway/core';
import {
  createClusterClient,
  createStatusWriter,
  createWriteLimit,
  kubernetesSource,
  type ClusterClient,
  type KubernetesSource,
  type StatusTiming,
  type StatusWriter,
} from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';
import { applyAnyCrds } from '../any-crds.ts';

const COUNT = Number(process.env.STATUS_COUNT ?? 10_000);
const UPSTREAMS = '/apis/gw.vendor.io/v1/namespaces/gw-system/upstreams';
const log = silentLoggers.get('config');

const statusOf = (state: State, reason?: string): ResourceStatus => ({
  statuses: { 'gw-system': { state, reportedBy: 'gw', ...(reason && { reason }) } },
});
const upstream = (name: string): string =>
  `---\napiVersion: gw.vendor.io/v1\nkind: Upstream\nmetadata: {name: ${name}, namespace: gw-system}\nspec: {}\n`;
const key = (name: string): ResourceKey => `Upstream/gw-system/${name}`;

describe('the writer of statuses', () => {
  let api: KubernetesApi;
  let client: ClusterClient;
  let requests: string[];
  let writer: StatusWriter;
  let source: KubernetesSource;
  let leads: boolean;

  before(async function () {
    api = await startKubernetes(this);
    client = await createClusterClient({ kubeconfig: [api.kubeconfig] });
    await applyAnyCrds(api);
  });
  after(async () => {
    await client?.close();
    await api?.close();
  });
  afterEach(async () => {
    await writer.close();
    await source.close();
    await client.send({ method: 'DELETE', path: UPSTREAMS, timeoutMs: 170_000 });
  });

  const limit = createWriteLimit();

  async function start(timing?: Partial<StatusTiming>): Promise<void> {
    requests = [];
    leads = true;
    writer = createStatusWriter({
      client: {
        send(request) {
          requests.push(request.path);
          return client.send(request);
        },
      },
      namespace: 'gw-system',
      log,
      isLeader: () => leads,
      timing,
      limit,
    });
    source = kubernetesSource({ client, log, onStatus: writer.observe });
    await source.start(() => {});
  }

  async function written(name: string): Promise<any> {
    const text = await api.kubectl(['get', '-n', 'gw-system', `upstreams.gw.vendor.io/${name}`, '-o', 'json']);
    return JSON.parse(text).status?.statuses;
  }

  it('writes what differs, once', async () => {
    await api.apply(upstream('a') + upstream('b'));
    await start();
    const statuses = new Map([
      [key('a'), statusOf('Accepted')],
      [key('b'), statusOf('Rejected', 'spec: invalid')],
      [key('discovered'), statusOf('Accepted')],
    ]);
    writer.update(statuses);
    await until(() => writer.pending === 0 && writer.written === 2);
    expect(await written('a')).to.deep.equal({ 'gw-system': { state: 'Accepted', reportedBy: 'gw' } });
    expect(await written('b')).to.deep.equal({
      'gw-system': { state: 'Rejected', reportedBy: 'gw', reason: 'spec: invalid' },
    });
    writer.update(new Map(statuses));
    writer.resume();
    expect(writer.pending).to.equal(0);
    expect(requests).to.have.length(2);
  });

  it('writes the status of Settings in the group that the user chose', async () => {
    await api.apply(
      'apiVersion: settings.gw.vendor.io/v1\nkind: Settings\nmetadata: {name: default, namespace: gw-system}\n',
    );
    await start();
    writer.update(new Map([['Settings/gw-system/default', statusOf('Accepted')]]));
    await until(() => writer.written === 1);
    const status = ['-o', 'jsonpath={.status.statuses.gw-system.state}'];
    expect(await api.kubectl(['get', '-n', 'gw-system', 'settings.gw.vendor.io/default', ...status])).to.equal(
      'Accepted',
    );
    expect(requests).to.have.length(1);
    await api.kubectl(['delete', '-n', 'gw-system', 'settings.gw.vendor.io/default']);
  });

  it('writes nothing again after a restart', async () => {
    await api.apply(upstream('a'));
    await start();
    writer.update(new Map([[key('a'), statusOf('Accepted')]]));
    await until(() => writer.written === 1);
    await writer.close();
    await source.close();
    await start();
    writer.update(new Map([[key('a'), statusOf('Accepted')]]));
    expect(writer.pending).to.equal(0);
    expect(requests).to.deep.equal([]);
  });

  it('keeps the reports of other control planes', async () => {
    await api.apply(upstream('a'));
    const other = '{"status":{"statuses":{"other":{"state":"Rejected"}}}}';
    const patch = [
      'patch',
      '-n',
      'gw-system',
      'upstreams.gw.vendor.io/a',
      '--subresource=status',
      '--type=merge',
      '-p',
    ];
    await api.kubectl([...patch, other]);
    await start();
    writer.update(new Map([[key('a'), statusOf('Accepted')]]));
    await until(() => writer.written === 1);
    expect(Object.keys(await written('a')).sort()).to.deep.equal(['gw-system', 'other']);
    writer.update(new Map());
    await until(() => writer.written === 2);
    expect(Object.keys(await written('a'))).to.deep.equal(['other']);
  });

  it('restores its report ever more rarely if somebody keeps overwriting it', async () => {
    await api.apply(upstream('a'));
    await start({ intervalMs: 200, maxIntervalMs: 60_000 });
    writer.update(new Map([[key('a'), statusOf('Accepted')]]));
    await until(() => writer.written === 1);
    const path = `${UPSTREAMS}/a/status`;
    const end = performance.now() + 5_000;
    let overwritten = 0;
    while (performance.now() < end) {
      const body = { status: { statuses: { 'gw-system': { state: 'Rejected', reason: String(overwritten++) } } } };
      await client.send({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
    }
    // After 200, 400, 800, 1600, 3200 ms.
    expect(overwritten).to.be.greaterThan(10);
    expect(requests.length).to.be.within(2, 7);
    expect(requests.length).to.be.lessThan(overwritten);
  });

  it('stops at once when it no longer leads, and continues when it leads again', async () => {
    const names = Array.from({ length: 200 }, (_, i) => `u${i}`);
    await api.apply(names.map(upstream).join(''));
    await start({ concurrency: 2 });
    writer.update(new Map(names.map((name) => [key(name), statusOf('Accepted')])));
    await until(() => writer.written > 5);
    leads = false;
    const sent = requests.length;
    await until(() => writer.written >= sent);
    expect(requests).to.have.length(sent);
    expect(writer.pending).to.be.greaterThan(0);
    leads = true;
    writer.resume();
    await until(() => writer.pending === 0);
    expect(new Set(requests).size).to.equal(200);
  });

  it('obeys a limit of writes per second', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `u${i}`);
    await api.apply(names.map(upstream).join(''));
    await start();
    limit.set({ qps: 20, burst: 5 });
    const since = performance.now();
    writer.update(new Map(names.map((name) => [key(name), statusOf('Accepted')])));
    await until(() => writer.pending === 0 && writer.written === 30);
    expect(performance.now() - since).to.be.greaterThan(1_200);
    limit.set(undefined);
  });

  it('does not create an object that was deleted in the meantime', async () => {
    await api.apply(upstream('a'));
    await start();
    await source.close();
    await api.kubectl(['delete', '-n', 'gw-system', 'upstreams.gw.vendor.io/a']);
    writer.update(new Map([[key('a'), statusOf('Accepted')]]));
    await until(() => requests.length === 1 && writer.pending === 0);
    expect(await api.kubectl(['get', '-n', 'gw-system', 'upstreams.gw.vendor.io', '-o', 'name'])).to.equal('');
  });

  it(`writes the first status of ${COUNT} objects within 60 s`, async () => {
    const names = Array.from({ length: COUNT }, (_, i) => `u${i}`);
    const queue = names.values();
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (const name of queue) {
          const body = { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata: { name }, spec: {} };
          await client.send({ method: 'POST', path: UPSTREAMS, body });
        }
      }),
    );
    const before = performance.now();
    await start();
    const listed = performance.now();
    writer.update(new Map(names.map((name) => [key(name), statusOf('Accepted')])));
    await until(() => writer.written === COUNT, 'all statuses are written', 300);
    const seconds = (performance.now() - listed) / 1000;
    console.log(
      `      ${COUNT} objects: listed in ${Math.round(listed - before)} ms, statuses in ${seconds.toFixed(1)} s`,
    );
    expect(seconds).to.be.lessThan(60);
    expect(requests).to.have.length(COUNT);
  }).timeout(600_000);
});
