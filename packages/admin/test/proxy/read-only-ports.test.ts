import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createProxyMetrics, createProxyReader, readAdminToken, type Readiness } from '../../src/index.ts';
import { browse, rawRequest } from '../raw-request.ts';
import { listen, proxyAdmin, sampleOptions, type TestPort } from '../sample.ts';

/** Everything that the proxy admin can do, so that the other ports could do it too. */
const CAPABLE = { quit() {}, drain() {}, setHealthy() {}, reopenLogs() {} };

describe('the port for probes and metrics', () => {
  let port: TestPort;
  before(async () => (port = await listen(createProxyMetrics(sampleOptions(CAPABLE)))));
  after(() => port.close());

  it('returns the readiness', async () => {
    expect(await port.request('/ready')).to.include({ status: 200, text: 'LIVE\n' });
    const readiness = (): Readiness => 'DRAINING';
    const draining = await listen(createProxyMetrics(sampleOptions({ readiness })));
    expect(await draining.request('/ready')).to.include({ status: 503, text: 'DRAINING\n' });
    await draining.close();
  });

  it('returns the metrics of the proxy admin, with its parameters', async () => {
    const options = sampleOptions();
    const { metrics } = options.context;
    metrics.counter({ path: 'http.http.downstream_rq_total', metric: 'envoy_http_downstream_rq_total' }).value = 7;
    const filled = await listen(createProxyMetrics(options));
    const { status, headers, text } = await filled.request('/metrics');
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.contain('version=0.0.4');
    expect(text).to.match(/^envoy_http_downstream_rq_total(?:\{.*\})? 7$/m);
    const filtered = await filled.request('/metrics?filter=^server[.]live$');
    expect(filtered.text).to.contain('envoy_server_live').and.not.contain('downstream_rq_total');
    expect((await filled.request('/stats')).text).to.contain('http.http.downstream_rq_total: 7\n');
    expect((await filled.request('/stats?filter=(')).status).to.equal(400);
    await filled.close();
  });

  it('has no other page of the proxy admin', async () => {
    for (const path of OTHER_PATHS.filter((path) => path !== '/stats/prometheus')) {
      expect((await port.request(path)).status, path).to.equal(404);
    }
    expect((await port.request('/stats/prometheus')).status).to.equal(404);
  });

  it('accepts only GET and HEAD', () => acceptsOnlyGet(port, ['/ready', '/metrics', '/stats']));

  it('requires no token, unlike the proxy admin', async () => {
    await withToken(async (token) => {
      const open = await listen(createProxyMetrics(sampleOptions({ token })));
      expect((await open.request('/metrics')).status).to.equal(200);
      await open.close();
    });
  });

  it('rejects foreign names in Host unless all are allowed', async () => {
    const request = 'GET /metrics HTTP/1.1\r\nhost: proxy-1:8081\r\nconnection: close\r\n\r\n';
    expect(await rawRequest(port.port, request)).to.match(/^HTTP\/1.1 403 /);
    const named = await listen(createProxyMetrics(sampleOptions({ allowedHosts: 'any' })));
    expect(await rawRequest(named.port, request)).to.match(/^HTTP\/1.1 200 /);
    const foreign = await named.request('/metrics', { headers: { origin: 'http://evil.example' } });
    expect(foreign.status).to.equal(403);
    await named.close();
  });
});

describe('the read-only port of a proxy', () => {
  let port: TestPort;
  before(async () => (port = await listen(createProxyReader(sampleOptions(CAPABLE)))));
  after(() => port.close());

  it('returns what the proxy admin returns', async () => {
    const admin = await proxyAdmin();
    for (const path of [
      '/ready',
      '/clusters',
      '/clusters?format=json',
      '/config_dump?include_eds',
      '/stats?filter=listener_manager',
    ]) {
      const { status, text } = await port.request(path);
      expect(status, path).to.equal(200);
      expect(text, path).to.equal((await admin.request(path)).text);
    }
    expect((await port.request('/stats/prometheus')).text).to.contain('# TYPE envoy_server_live gauge');
    await admin.close();
  });

  it('shows no secret value', async () => {
    for (const path of ['/config_dump', '/config_dump?include_eds', '/clusters', '/stats']) {
      expect((await port.request(path)).text, path).not.to.contain('MARKER');
    }
  });

  it('has no other page of the proxy admin', async () => {
    for (const path of OTHER_PATHS) {
      if (path.startsWith('/stats') || path === '/clusters' || path === '/config_dump') continue;
      expect((await port.request(path)).status, path).to.equal(404);
    }
  });

  it('accepts only GET and HEAD', () => acceptsOnlyGet(port, ['/ready', '/stats', '/config_dump', '/clusters']));

  it('requires the token, except for the readiness', async () => {
    await withToken(async (token, text) => {
      const closed = await listen(createProxyReader(sampleOptions({ token })));
      expect((await closed.request('/ready')).status).to.equal(200);
      for (const path of ['/config_dump', '/clusters', '/stats', '/nothing']) {
        expect((await closed.request(path)).status, path).to.equal(401);
      }
      const authorization = `Bearer ${text}`;
      expect((await closed.request('/config_dump', { headers: { authorization } })).status).to.equal(200);
      const form = await browse(closed.port, '/config_dump');
      const [, style] = /<link rel="stylesheet" href="([^"]+)">/.exec(form)!;
      expect(await closed.request(style!)).to.include({ status: 200 });
      await closed.close();
    });
  });
});

const OTHER_PATHS = [
  '/',
  '/help',
  '/status',
  '/certs',
  '/clusters',
  '/config_dump',
  '/config_dump/more',
  '/drain_listeners',
  '/graphql',
  '/healthcheck/fail',
  '/listeners',
  '/logging',
  '/logging?level=debug',
  '/logs',
  '/memory',
  '/quitquitquit',
  '/ready/',
  '/READY',
  '//ready',
  '/reset_counters',
  '/runtime',
  '/server_info',
  '/stats/prometheus',
  '/trace',
];

async function acceptsOnlyGet(port: TestPort, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    expect((await port.request(path, { method: 'HEAD' })).status, path).to.equal(200);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const { status, headers } = await port.request(path, { method });
      expect(status, `${method} ${path}`).to.equal(405);
      expect(headers.get('allow')).to.equal('GET, HEAD');
    }
  }
}

async function withToken(
  use: (token: ReturnType<typeof readAdminToken>, text: string) => Promise<void>,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'token-'));
  const text = 'a-token-of-enough-characters';
  writeFileSync(join(dir, 'token'), text, { mode: 0o600 });
  try {
    await use(readAdminToken(join(dir, 'token')), text);
  } finally {
    rmSync(dir, { recursive: true });
  }
}
