import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLoggers, createMetrics, type Metrics } from '@edge-gateway/core';
import { expect } from 'chai';
import { until } from '../../../test/parts/until.ts';
import { protect, type Protected } from './protection.ts';

const config = (port: number): string => `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: own, namespace: gw-system }
spec:
  configs:
    - name: decide
      passThroughAuth:
        http:
          url: http://127.0.0.1:${port}/decide
          request: { passThroughBody: true, allowedHeaders: [x-say] }
          response: { allowedClientHeadersOnDenied: [x-why] }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options: { extauth: { configRef: { name: own, namespace: gw-system } } }
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`;
const listener = (path: string): string => `
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gateway-proxy, namespace: gw-system }
spec:
  bindPort: 8080
  httpGateway: {}
  options:
    accessLoggingService:
      accessLog: [{ fileSink: { path: ${path}, stringFormat: "%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%\\n" } }]
`;
const settings = (extauth: string): string => `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { extauth: ${extauth} }
`;
const say = (what: string): Record<string, string> => ({ 'x-say': what });

type Line = Readonly<Record<string, unknown>>;

describe('external auth that denies or fails', () => {
  let gateway: Protected;
  let server: Server;
  let resources: string;
  let lines: Line[];
  let folder: string;
  let log: string;
  let metrics: Metrics;
  /** Bodies that the auth server was told. */
  let told: string[];

  /** An auth server that does what `x-say` says. */
  function decide(req: IncomingMessage, res: ServerResponse): void {
    let text = '';
    req.on('data', (chunk: Buffer) => (text += chunk.toString()));
    req.on('end', () => {
      told.push((JSON.parse(text) as { body: string }).body);
      const what = req.headers['x-say'];
      if (what === 'yes') res.end();
      else if (what === 'no') res.writeHead(429, { 'x-why': 'too often', 'content-type': 'text/x-own' }).end('later');
      else if (what === 'later') setTimeout(() => res.end(), 1000);
      else if (what === 'broken') req.socket.destroy();
    });
  }

  beforeEach(async () => {
    [lines, told] = [[], []];
    folder = mkdtempSync(join(tmpdir(), 'access-'));
    log = join(folder, 'access.log');
    server = createServer(decide);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    resources = [config((server.address() as AddressInfo).port), listener(log)].join('---\n');
    const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Line) };
    metrics = createMetrics();
    gateway = await protect(resources, '', { metrics, log: createLoggers({ level: 'info', destination }) });
    gateway.source.set('settings', settings('{ requestTimeout: 30s }'));
  });
  afterEach(async () => {
    await gateway.close();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  const count = (what: string): number =>
    metrics.counter({ path: `http.http.ext_authz.${what}`, metric: `envoy_http_ext_authz_${what}` }).value;

  /** Waits until the lines of the access log, from the first one, begin so. */
  async function logged(...expected: string[]): Promise<void> {
    const read = (): string => (existsSync(log) ? readFileSync(log, 'utf8') : '');
    await until(() => read().split('\n').length > expected.length, 'lines of the access log');
    const lines = read().trimEnd().split('\n');
    expect(lines.map((line, i) => line.slice(0, expected[i]?.length))).to.deep.equal(expected);
  }

  it('marks denied requests in the access log, but not allowed ones', async () => {
    const answer = await gateway.ask('/', say('no'));
    expect(answer).to.include({ status: 429, body: 'later' });
    expect(answer.headers['x-why']).to.equal('too often');
    expect(gateway.reached()).to.equal(0);
    expect((await gateway.ask('/', say('yes'))).status).to.equal(200);
    await logged('429 UAEX ext_authz_denied', '200 - ');
  });

  it('distinguishes failed checks from denials in log and counters', async () => {
    expect((await gateway.ask('/', say('broken'))).status).to.equal(403);
    await logged('403 UAEX ext_authz_error');
    expect(['error', 'denied'].map(count)).to.deep.equal([1, 0]);
    await gateway.ask('/', say('no'));
    expect(['error', 'denied'].map(count)).to.deep.equal([1, 1]);
  });

  it('returns 403 with an empty body after a timeout, and logs which setting to raise', async () => {
    gateway.source.delete('settings');
    const answer = await gateway.ask('/?token=secret', { ...say('later'), cookie: 'session=secret' });
    expect(answer).to.include({ status: 403, body: '' });
    expect(gateway.reached()).to.equal(0);
    await logged('403 UAEX ext_authz_error');
    const warning = lines.find(({ msg }) => String(msg).includes('spec.extauth.requestTimeout'));
    expect(warning).to.include({ config: 'gw-system.own', step: 'decide', timeoutMs: 200 });
    expect(warning?.['requestId']).to.be.a('string').and.not.equal('');
    expect(JSON.stringify(lines)).not.to.contain('secret');
    gateway.source.set('settings', settings('{ requestTimeout: 30s }'));
    expect((await gateway.ask('/', say('later'))).status).to.equal(200);
  });

  it('applies statusOnError and failureModeAllow to failures, not to denials', async () => {
    gateway.source.set('settings', settings('{ statusOnError: 503, requestTimeout: 50ms }'));
    expect(await gateway.ask('/', say('nothing'))).to.include({ status: 503, body: '' });
    await logged('503 UAEX ext_authz_error');
    gateway.source.set('settings', settings('{ failureModeAllow: true, requestTimeout: 50ms }'));
    expect((await gateway.ask('/', say('nothing'))).status).to.equal(200);
    gateway.source.set('settings', settings('{ failureModeAllow: true, requestTimeout: 30s }'));
    expect((await gateway.ask('/', say('no'))).status).to.equal(429);
    expect(gateway.reached()).to.equal(1);
  });

  it('keeps the last good settings when new ones are invalid, and never fails open', async () => {
    gateway.source.set('settings', settings('{ statusOnError: 503, requestTimeout: 50ms }'));
    for (const bad of ['statusOnError: 599', 'statusOnError: 100', 'requestTimeout: 0s', 'userIdHeader: host']) {
      gateway.source.set('settings', settings(`{ failureModeAllow: true, ${bad} }`));
      expect(gateway.state('Settings', 'default'), bad).to.equal('Rejected');
      expect((await gateway.ask('/', say('nothing'))).status, bad).to.equal(503);
    }
    expect(gateway.reached()).to.equal(0);
  });

  it('prefers the settings of its listener', async () => {
    gateway.source.set('settings', settings('{ failureModeAllow: true, requestTimeout: 50ms }'));
    const own = 'httpGateway: { options: { extauth: { statusOnError: 502, requestTimeout: 60ms } } }';
    gateway.source.set('resources', resources.replace('httpGateway: {}', own));
    expect(await gateway.ask('/', say('nothing'))).to.include({ status: 502, body: '' });
    expect(lines.find(({ step }) => step === 'decide')).to.include({ timeoutMs: 60 });
  });

  it('uses the valid rest when the first settings are invalid, and never fails open', async () => {
    const fresh = await protect([resources, settings('{ failureModeAllow: true, statusOnError: 599 }')].join('---\n'));
    expect(fresh.state('Settings', 'default')).to.equal('Rejected');
    expect(await fresh.ask('/', say('nothing'))).to.include({ status: 403, body: '' });
    expect(fresh.reached()).to.equal(0);
    await fresh.close();
  });

  it('sends the body to the auth server, and rejects a longer one with 413 without a call', async () => {
    gateway.source.set('settings', settings('{ requestTimeout: 30s, requestBody: { maxRequestBytes: 10 } }'));
    expect(JSON.parse((await gateway.ask('/', say('yes'), 'hello')).body)).to.include({ size: 5 });
    expect(told).to.deep.equal(['hello']);
    expect(await gateway.ask('/', say('yes'), 'hello hello')).to.include({ status: 413, body: 'Payload Too Large' });
    await logged('200 - ', '413 - request_payload_too_large');
    expect(told).to.have.lengthOf(1);
  });

  it('sends the beginning of a longer body with allowPartialMessage, and forwards all of it', async () => {
    gateway.source.set(
      'settings',
      settings('{ requestTimeout: 30s, requestBody: { maxRequestBytes: 10, allowPartialMessage: true } }'),
    );
    const { body } = await gateway.ask('/', say('yes'), `${'x'.repeat(10)}${'y'.repeat(100_000)}`);
    expect(JSON.parse(body)).to.include({ size: 100_010 });
    expect(told).to.deep.equal(['x'.repeat(10)]);
  });

  it('sends no body without requestBody, and reads 4096 bytes by default', async () => {
    expect((await gateway.ask('/', say('yes'), 'hello')).status).to.equal(200);
    expect(told).to.deep.equal(['']);
    for (const requestBody of ['{}', '{ maxRequestBytes: 0 }']) {
      gateway.source.set('settings', settings(`{ requestTimeout: 30s, requestBody: ${requestBody} }`));
      expect((await gateway.ask('/', say('yes'), 'x'.repeat(4096))).status, requestBody).to.equal(200);
      expect((await gateway.ask('/', say('yes'), 'x'.repeat(4097))).status, requestBody).to.equal(413);
    }
  });
});
