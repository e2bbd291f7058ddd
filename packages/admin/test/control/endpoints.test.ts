import { createLoggers, createMetrics, type ProxyStatus } from '@edge-gateway/core';
import { expect } from 'chai';
import { expositionProblems } from '../exposition.ts';
import type { TestPort } from '../sample.ts';
import { controlAdmin } from './control-sample.ts';

const PROXY: ProxyStatus = {
  node: 'host-1~4711',
  proxy: 'gateway-proxy',
  address: '10.0.0.1:4000',
  version: 'v1',
  current: false,
  connectedSince: '2026-01-02T00:00:00.000Z',
  nack: { type: 'listener', resource: 'a', field: 'routes[0]', message: 'invalid' },
  age: 3,
};

describe('the control-plane port', () => {
  const loggers = createLoggers({ destination: { write() {} } });
  const metrics = createMetrics();
  let admin: TestPort;
  before(async () => {
    metrics.counter({ path: 'a.total', metric: 'a_total', labels: { kind: 'x"y' } }).value = 1;
    metrics.histogram({ path: 'a.time', metric: 'a_time' }).observe(3);
    admin = await controlAdmin({
      loggers,
      metrics,
      components: () => [
        { name: 'control-plane', kind: 'control-plane', state: 'ready' },
        { name: 'listener-::-8080', kind: 'listener', state: 'failed', reason: 'the port is in use' },
      ],
      proxies: () => [PROXY],
      translations: () => [{ revision: 4, at: Date.UTC(2026, 0, 2), durationMs: 1.25, resources: 9, problems: 1 }],
    });
  });
  beforeEach(() => loggers.setLevel('info'));
  after(() => admin.close());
  const put = (body: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    admin.request('/logging', { method: 'PUT', body, headers });

  it('links to every page on /', async () => {
    const { text, headers } = await admin.request('/');
    expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
    for (const path of ['/snapshots/input', '/metrics', '/logging', '/debug/pprof', '/zpages', '/version']) {
      expect(text).to.contain(`<a href="${path}">`);
    }
  });

  it('returns its version', async () => {
    expect((await admin.request('/version')).text).to.equal('{"version":"1.2.3"}\n');
    const packed = await controlAdmin({ commit: 'abc1234' });
    expect((await packed.request('/version')).text).to.equal('{"version":"1.2.3","commit":"abc1234"}\n');
    await packed.close();
  });

  it('lists the components with state and reason', async () => {
    expect(JSON.parse((await admin.request('/components')).text)).to.deep.equal([
      { name: 'control-plane', kind: 'control-plane', state: 'ready' },
      { name: 'listener-::-8080', kind: 'listener', state: 'failed', reason: 'the port is in use' },
    ]);
  });

  it('lists the connected proxies', async () => {
    expect(JSON.parse((await admin.request('/proxies')).text)).to.deep.equal([PROXY]);
  });

  it('returns valid Prometheus metrics', async () => {
    const { text, headers } = await admin.request('/metrics');
    expect(headers.get('content-type')).to.contain('version=0.0.4');
    expect(expositionProblems(text)).to.deep.equal([]);
    expect(text).to.contain('a_total{kind="x\\"y"} 1');
  });

  it('shows and sets the log level', async () => {
    expect((await admin.request('/logging')).text).to.equal('{"level":"info"}\n');
    expect(await put('{"level":"debug"}')).to.include({ status: 200, text: '{"level":"debug"}\n' });
    expect([loggers.level('main'), loggers.level('router')]).to.deep.equal(['debug', 'debug']);
    expect((await admin.request('/logging')).text).to.equal('{"level":"debug"}\n');
  });

  it('sets the levels of single loggers, and shows those that differ', async () => {
    const changed = await put('{"loggers":{"router":"debug","grpc":"off"}}');
    expect(changed).to.include({ status: 200, text: '{"level":"info","loggers":{"grpc":"off","router":"debug"}}\n' });
    expect([loggers.level('router'), loggers.level('main')]).to.deep.equal(['debug', 'info']);
    const both = await put('{"level":"warn","loggers":{"jwt":"info"}}');
    expect(both.text).to.equal('{"level":"warn","loggers":{"jwt":"info"}}\n');
    expect((await put('{"level":"info"}')).text).to.equal('{"level":"info"}\n');
  });

  it('accepts a level with any content type', async () => {
    expect((await put('{"level":"warn"}', { 'content-type': 'application/x-www-form-urlencoded' })).status).to.equal(
      200,
    );
    expect(loggers.level('main')).to.equal('warn');
  });

  for (const level of ['debug', 'info', 'warn', 'error', 'panic', 'fatal'] as const) {
    it(`accepts the level ${level}`, async () => {
      expect((await put(JSON.stringify({ level }))).status).to.equal(200);
      expect(loggers.level('main')).to.equal(level);
    });
  }

  const BAD_LEVELS = [
    '{"level":"trace"}',
    '{"level":"DEBUG"}',
    '{"level":1}',
    '{}',
    '[]',
    '["debug"]',
    '"debug"',
    'null',
    '{"level":"debug","x":1}',
    '{"loggers":"debug"}',
    '{"loggers":{"nobody":"debug"}}',
    '{"loggers":{"router":"debug","main":"loud"}}',
    '{"level":"loud","loggers":{"main":"debug"}}',
  ];
  for (const body of BAD_LEVELS) {
    it(`rejects ${body} as a level`, async () => {
      const { status, text } = await put(body);
      expect(status).to.equal(400);
      expect(JSON.parse(text)).to.include({ code: 'ERR_ADMIN_BAD_LEVEL' });
      expect([loggers.level('main'), loggers.level('router')]).to.deep.equal(['info', 'info']);
    });
  }

  it('rejects an empty body as a level', async () => {
    const { status, text } = await admin.request('/logging', { method: 'PUT' });
    expect([status, JSON.parse(text).code]).to.deep.equal([400, 'ERR_ADMIN_BAD_LEVEL']);
  });

  it('shows the last translations as a page and as JSON', async () => {
    const { text } = await admin.request('/zpages');
    expect(text).to.contain('<link rel="stylesheet" href="/status/page.css">').and.contain('name="viewport"');
    expect(text).to.match(/>4<\/th><td[^>]*><div><time>2026-01-02T00:00:00.000Z<\/time>/);
    const { translations } = JSON.parse((await admin.request('/zpages?format=json')).text);
    expect(translations[0]).to.include({ revision: 4, problems: 1 });
  });

  it('offers profiles, but no full heap snapshot', async () => {
    for (const path of ['/debug/pprof', '/debug/pprof/']) {
      const { status, text } = await admin.request(path);
      expect(status).to.equal(200);
      expect(text).to.contain('/debug/pprof/profile').and.to.contain('/debug/pprof/heap');
    }
  });

  it('returns a CPU profile', async () => {
    const { headers, text } = await admin.request('/debug/pprof/profile?seconds=0.05');
    expect(headers.get('content-disposition')).to.equal('attachment; filename="gateway.cpuprofile"');
    expect(JSON.parse(text)).to.include.keys('nodes', 'startTime', 'endTime', 'samples');
  });

  it('returns a heap profile', async () => {
    const { text } = await admin.request('/debug/pprof/heap?seconds=0.05');
    expect(JSON.parse(text)).to.include.keys('head', 'samples');
  });

  it('takes one profile at a time, and stops when the client disconnects', async () => {
    const controller = new AbortController();
    const first = admin.request('/debug/pprof/profile?seconds=60', { signal: controller.signal });
    const second = async () => admin.request('/debug/pprof/profile?seconds=0.01');
    let response = await second();
    while (response.status !== 409) response = await second();
    expect(JSON.parse(response.text).code).to.equal('ERR_ADMIN_BUSY');
    controller.abort();
    await first.catch(() => {});
    while (response.status === 409) response = await second();
    expect(response.status).to.equal(200);
  });

  it('uses the default for an empty duration of a profile', async () => {
    const controller = new AbortController();
    const outcome: { status?: number } = {};
    const first = admin.request('/debug/pprof/profile?seconds=', { signal: controller.signal }).then(
      (response) => (outcome.status = response.status),
      () => {},
    );
    const isBusy = async () => (await admin.request('/debug/pprof/profile?seconds=0.01')).status === 409;
    while (outcome.status === undefined && !(await isBusy()));
    controller.abort();
    await first;
    expect(outcome.status, 'responded before it was aborted').to.equal(undefined);
    while (await isBusy());
  });

  for (const seconds of ['0', '-1', '61', 'x', 'NaN', '1e9']) {
    it(`rejects a profile of ${seconds} seconds`, async () => {
      const { status, text } = await admin.request(`/debug/pprof/profile?seconds=${seconds}`);
      expect([status, JSON.parse(text).code]).to.deep.equal([400, 'ERR_ADMIN_BAD_PARAMETER']);
    });
  }
});
