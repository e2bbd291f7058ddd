import { createMetrics, createContext } from '@edge-gateway/core';
import { expect } from 'chai';
import { proxyAdmin, secrets, type TestPort } from '../sample.ts';

describe('endpoints that change the proxy', () => {
  const done: string[] = [];
  const metrics = createMetrics();
  let admin: TestPort;
  before(async () => {
    admin = await proxyAdmin({
      context: createContext({ metrics, secrets }),
      quit: () => void done.push('quit'),
      drain: ({ graceful }) => void done.push(`drain graceful=${graceful}`),
      setHealthy: (healthy) => void done.push(`healthy=${healthy}`),
      reopenLogs: () => void done.push('reopen'),
    });
  });
  beforeEach(() => (done.length = 0));
  after(() => admin.close());
  const post = (path: string) => admin.request(path, { method: 'POST' });
  const until = async (what: string): Promise<void> => {
    while (!done.includes(what)) await new Promise(setImmediate);
  };

  const PATHS = [
    '/healthcheck/fail',
    '/healthcheck/ok',
    '/drain_listeners',
    '/quitquitquit',
    '/reset_counters',
    '/reopen_logs',
  ];
  for (const path of PATHS) {
    it(`reject GET, HEAD and PUT of ${path} without effect`, async () => {
      const get = await admin.request(path);
      expect(get).to.include({ status: 405, text: 'Method GET not allowed, POST required.' });
      expect(get.headers.get('allow')).to.equal('POST');
      expect((await admin.request(path, { method: 'HEAD' })).status).to.equal(405);
      expect((await admin.request(path, { method: 'PUT' })).text).to.equal('Method PUT not allowed, POST required.');
      expect(done).to.deep.equal([]);
    });
  }

  it('fail and restore the health check', async () => {
    expect((await post('/healthcheck/fail')).text).to.equal('OK\n');
    expect((await post('/healthcheck/ok')).text).to.equal('OK\n');
    expect(done).to.deep.equal(['healthy=false', 'healthy=true']);
  });

  it('drain listeners, gracefully with the parameter', async () => {
    expect((await post('/drain_listeners')).text).to.equal('OK\n');
    await until('drain graceful=false');
    await post('/drain_listeners?graceful');
    await until('drain graceful=true');
  });

  it('ignore a flag that a form leaves empty', async () => {
    for (const [body, expected] of [
      ['graceful=', 'drain graceful=false'],
      ['graceful=on', 'drain graceful=true'],
    ] as const) {
      done.length = 0;
      await admin.request('/drain_listeners', { method: 'POST', body: new URLSearchParams(body) });
      while (done.length === 0) await new Promise(setImmediate);
      expect(done).to.deep.equal([expected]);
    }
  });

  it('quit after the response', async () => {
    expect((await post('/quitquitquit')).text).to.equal('OK\n');
    await until('quit');
  });

  it('reopen logs', async () => {
    expect((await post('/reopen_logs')).text).to.equal('OK\n');
    expect(done).to.deep.equal(['reopen']);
  });

  it('set counters to 0, and leave gauges', async () => {
    const counter = metrics.counter({ path: 'a.total', metric: 'a_total' });
    const gauge = metrics.gauge({ path: 'a.active', metric: 'a_active' });
    counter.value = 5;
    gauge.value = 6;
    expect((await post('/reset_counters')).text).to.equal('OK\n');
    expect([counter.value, gauge.value]).to.deep.equal([0, 6]);
  });

  it('do not exist without their option', async () => {
    const bare = await proxyAdmin();
    const response = await bare.request('/quitquitquit', { method: 'POST' });
    const help = await bare.request('/help');
    await bare.close();
    expect(response.status).to.equal(404);
    expect(help.text).not.to.contain('quitquitquit');
  });
});
