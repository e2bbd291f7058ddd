import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { createLoggers, createMetrics, type HostState, type LineSink } from '@edge-gateway/core';
import { createSinkRelay, relayLines } from '../../src/workers/line-relay.ts';
import { mergeHosts } from '../../src/workers/merged-hosts.ts';
import { createReportedMetrics } from '../../src/workers/stat-report.ts';
import { createStatSums } from '../../src/workers/stat-sums.ts';
import { createWorkerLog } from '../../src/workers/worker-log.ts';

describe('the statistics of workers', () => {
  const named = (path: string) => ({ path, metric: path.replaceAll(/\W/g, '_') });

  it('are summed, reported once per change, and what a worker counted stays when it ends', () => {
    const metrics = createMetrics();
    const sums = createStatSums(metrics);
    const workers = [createReportedMetrics(), createReportedMetrics()];
    metrics.counter(named('a.total')).value = 100;
    for (const [i, each] of workers.entries()) {
      each.metrics.counter(named('a.total')).value = 10 + i;
      each.metrics.gauge(named('a.active')).value = 2;
      each.metrics.gauge(named('cluster.a.membership_total')).value = 3 + i;
      each.metrics.histogram(named('a.ms'), [1, 10]).observe(5);
      each.metrics.computed(named('a.computed'), () => 7);
      sums.add(i + 1, each.report());
    }
    const values = () =>
      Object.fromEntries(
        metrics
          .list()
          .filter(({ name }) => !name.path.startsWith('workers.'))
          .map(({ name, type, stat }) => [
            name.path,
            type === 'histogram' ? [stat.count, stat.sum, ...stat.buckets] : stat.value,
          ]),
      );
    expect(values()).to.deep.equal({
      'a.total': 121,
      'a.active': 4,
      'a.computed': 14,
      'a.ms': [2, 10, 0, 2],
      'cluster.a.membership_total': 4,
    });
    expect(workers[0]!.report().values).to.deep.equal([]);
    workers[0]!.metrics.counter(named('a.total')).value++;
    expect(workers[0]!.report().values).to.have.length(1);
    sums.remove(2);
    expect(values()).to.deep.equal({
      'a.total': 121,
      'a.active': 2,
      'a.computed': 7,
      'a.ms': [2, 10, 0, 2],
      'cluster.a.membership_total': 3,
    });
  });

  it('are removed when workers remove them', () => {
    const metrics = createMetrics();
    const sums = createStatSums(metrics);
    const worker = createReportedMetrics();
    worker.metrics.counter(named('cluster.a.rq')).value = 5;
    sums.add(1, worker.report());
    worker.metrics.remove('cluster.a.');
    worker.metrics.counter(named('cluster.a.rq')).value = 2;
    sums.add(1, worker.report());
    expect(metrics.counter(named('cluster.a.rq')).value).to.equal(2);
    worker.metrics.remove('cluster.a.');
    sums.add(1, worker.report());
    expect(metrics.list().some(({ name }) => name.path === 'cluster.a.rq')).to.equal(false);
  });
});

describe('the lines of workers', () => {
  const collect = (stream: PassThrough): string[] => {
    const found: string[] = [];
    relayLines(stream, (lines) => found.push(lines));
    return found;
  };

  it('are relayed whole, whatever the chunks; an incomplete last one is dropped', async () => {
    const stream = new PassThrough();
    const found = collect(stream);
    for (const chunk of ['on', 'e\ntwo\nth', 'ré'.slice(0, 1)]) stream.write(chunk);
    const bytes = Buffer.from('é\nincomplete');
    stream.write(bytes.subarray(0, 1));
    stream.end(bytes.subarray(1));
    await new Promise((resolve) => stream.once('end', resolve));
    expect(found).to.deep.equal(['one\ntwo\n', 'thré\n']);
  });

  it('wait while the reader of the sink is too slow', async () => {
    let queued = 0;
    const written: string[] = [];
    const sink = {
      write(line: string) {
        written.push(line);
        queued += line.length;
      },
      get queued() {
        return queued;
      },
    } as unknown as LineSink;
    const relay = createSinkRelay(sink);
    const stream = new PassThrough();
    relay.add(stream);
    stream.write(`${'x'.repeat(1024 * 1024)}\n`);
    await new Promise((resolve) => setImmediate(resolve));
    expect(stream.isPaused()).to.equal(true);
    stream.write('later\n');
    relay.onProgress();
    expect(stream.isPaused()).to.equal(true);
    queued = 0;
    relay.onProgress();
    await new Promise((resolve) => stream.once('data', resolve));
    expect(written.at(-1)).to.equal('later\n');
  });

  it('are written once to the log if several workers log the same, but each time if one does', () => {
    const written: string[] = [];
    let now = 0;
    const log = createWorkerLog(
      createLoggers({ destination: { write: (line) => void written.push(line) } }),
      () => now,
    );
    const line = (worker: number, msg: string): string =>
      `{"level":30,"time":${now},"worker":${worker},"msg":"${msg}"}\n`;
    log.write(1, line(1, 'listening') + line(1, 'other'));
    log.write(2, line(2, 'listening'));
    log.write(3, line(3, 'listening'));
    expect(written).to.deep.equal([line(1, 'listening'), line(1, 'other')]);
    log.write(1, line(1, 'listening'));
    expect(written).to.have.length(3);
    log.write(2, line(2, 'listening') + line(2, 'listening'));
    expect(written).to.have.length(4);
    now = 60_000;
    log.write(3, line(3, 'listening'));
    expect(written).to.have.length(5);
    log.write(1, 'Error: not JSON\n');
    expect(JSON.parse(written.at(-1)!)).to.include({ worker: 1, line: 'Error: not JSON', level: 50 });
  });
});

describe('the hosts of workers', () => {
  const host = (parts: Partial<HostState>, total: number): HostState =>
    ({
      address: '127.0.0.1',
      port: 80,
      hostname: '127.0.0.1',
      weight: 1,
      priority: 0,
      locality: {},
      counters: { rq_total: total },
      healthFlags: [],
      successRate: -1,
      localOriginSuccessRate: -1,
      ...parts,
    }) as unknown as HostState;

  it('have the sums of the counters, the flags of any worker, and the lowest rate', () => {
    const merged = mergeHosts(
      [
        new Map([['a', [host({ healthFlags: ['failed_active_hc'], successRate: 90 }, 1), host({ port: 81 }, 5)]]]),
        new Map([['a', [host({ healthFlags: ['failed_outlier_check'], successRate: 70 }, 2)]]]),
        new Map(),
      ],
      'a',
    )!;
    expect(merged).to.have.length(2);
    expect(merged[0]).to.deep.include({
      counters: { rq_total: 3 },
      healthFlags: ['failed_active_hc', 'failed_outlier_check'],
      successRate: 70,
    });
    expect(mergeHosts([new Map([['a', []]])], 'b')).to.equal(undefined);
  });
});
