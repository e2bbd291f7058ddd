import { DEFAULT_SNAPSHOT_SETTINGS } from '@edge-gateway/core';
import { expect } from 'chai';
import { createStateEncoder } from '../../src/workers/state-encoder.ts';
import { WorkerProcess, type WorkerEnd } from '../../src/workers/worker-process.ts';

describe('a worker process', () => {
  const settings = {
    adminAddress: '127.0.0.1',
    adminPort: 0,
    readOnlyAddress: '127.0.0.1',
    proxyName: 'gateway-proxy',
    workers: 1,
    accessLogOverflow: 'drop',
    http1Parser: 'plain',
    http2Client: 'direct',
    logLevel: 'error',
    drainSeconds: 1,
  } as const;
  const setup = { worker: 1, processes: 1, processKey: 'k', settings, terminal: { isTTY: false, hasColors: false } };
  const snapshot = {
    proxy: 'gateway-proxy',
    version: '1',
    listeners: [],
    upstreams: [],
    settings: DEFAULT_SNAPSHOT_SETTINGS,
  };

  /** Starts a worker and stops its process: once it has applied a state, or before it has sent anything. */
  async function startHung(when: 'applied' | 'started' = 'applied'): Promise<{
    worker: WorkerProcess;
    ended: Promise<WorkerEnd>;
  }> {
    const end = Promise.withResolvers<WorkerEnd>();
    const applied = Promise.withResolvers<void>();
    const worker = new WorkerProcess(
      setup,
      {
        onApplied: () => applied.resolve(),
        onListening() {},
        onCharges: () => expect.fail('nothing is limited'),
        onRecorded() {},
        onStats() {},
        onEnd: (_, how) => end.resolve(how),
      },
      when === 'applied'
        ? { hungMs: 3000, hungStartingMs: 3_600_000, hungApplyingMs: 4000 }
        : { hungMs: 3_600_000, hungStartingMs: 3000, hungApplyingMs: 3_600_000 },
    );
    worker.offer(createStateEncoder().encode({ snapshot, unserved: [], secrets: new Map() }));
    if (when === 'applied') await applied.promise;
    process.kill(worker.pid!, 'SIGSTOP');
    return { worker, ended: end.promise };
  }

  it('is killed when it gives no sign of life for the limit', async () => {
    const { ended } = await startHung();
    const { signal, error } = await ended;
    expect(signal).to.equal('SIGKILL');
    expect(error?.message).to.equal('no sign of life for 3 s');
  });

  it('is killed when it gives no sign of life after its start', async () => {
    const { worker, ended } = await startHung('started');
    const { signal, error } = await ended;
    expect(signal).to.equal('SIGKILL');
    expect(error?.message).to.equal('no sign of life for 3 s');
    expect(worker.applying, 'the state is not the reason').to.equal(0);
  });

  it('may be silent for longer while it applies a state', async () => {
    const { worker, ended } = await startHung();
    worker.offer(createStateEncoder().encode({ snapshot, unserved: [], secrets: new Map() }));
    expect(worker.applying).to.be.above(0);
    expect((await ended).error?.message).to.equal('no sign of life for 4 s');
  });

  it('is not waited for when it hangs during a drain', async () => {
    const { worker, ended } = await startHung();
    await worker.drain(3_600_000);
    await worker.close();
    expect((await ended).signal).to.equal('SIGKILL');
  });

  it('settles all waits for its reports and recordings when it ends', async () => {
    const { worker } = await startHung();
    const request = (): Promise<unknown> =>
      Promise.all([worker.requestStats(), worker.requestHosts(), worker.record('a'), worker.drain(3_600_000)]);
    const waiting = request();
    worker.kill();
    await waiting;
    await request();
    const timers = (): number => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
    const before = timers();
    await worker.close();
    expect([worker.hasEnded, timers()]).to.deep.equal([true, before]);
  });
});
