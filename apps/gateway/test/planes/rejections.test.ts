import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createMetrics,
  DEFAULT_SNAPSHOT_SETTINGS,
  silentLoggers,
  type Route,
  type Snapshot,
  type VirtualHost,
} from '@edge-gateway/core';
import { createDiscoveryClient, createDiscoveryServer, type DiscoveryClient } from '@edge-gateway/xds';
import { createStateDecoder, TYPE } from '@edge-gateway/xds/resources';
import { expect } from 'chai';
import type { RunningRole } from '../../src/command-line/role.ts';
import { startControlPlane } from '../../src/roles/control-plane.ts';
import { startProxy } from '../../src/roles/proxy.ts';
import { until } from '../gateway-process.ts';
import { direct } from '../workers/resources.ts';

const PROCESS = { log: silentLoggers, quit: () => {} };
const VALIDATION = { validationAddress: '127.0.0.1', validationNames: [], validationWebhook: '' };
const BASE = { adminAddress: '127.0.0.1', readOnlyAddress: '127.0.0.1', logLevel: 'error', drainSeconds: 0 } as const;

describe('what a proxy rejects', () => {
  let dir: string;
  let role: RunningRole | undefined;
  let client: DiscoveryClient | undefined;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'planes-'));
  });
  afterEach(async () => {
    client?.close();
    await role?.stop();
    rmSync(dir, { recursive: true });
  });

  it('appears in the status of the resource, in the problems and in the list of proxies until it is fixed', async () => {
    writeFileSync(join(dir, 'a.yaml'), direct('bad'));
    const ports = { xdsPort: 0, statsPort: 0, devAdminPort: 0, httpPort: 8080, httpsPort: 8443 };
    const xds = { xdsAddress: '127.0.0.1', xdsSecrets: 'verified' } as const;
    role = await startControlPlane({ ...BASE, ...VALIDATION, ...ports, ...xds, config: dir }, PROCESS);
    const { xdsPort, statsPort } = role.facts as { xdsPort: number; statsPort: number };
    const get = async (path: string) => (await fetch(`http://127.0.0.1:${statsPort}${path}`)).json() as Promise<any>;
    const resource = 'listener-::-8080/gw-system.direct';
    const failed = { type: TYPE.virtualHost, resource, field: 'routes[0]', message: 'cannot be compiled' };
    client = createDiscoveryClient({
      servers: [{ host: '127.0.0.1', port: xdsPort }],
      node: { id: 'a-node', proxy: 'gateway-proxy', namespace: 'gw-system' },
      decoder: createStateDecoder(),
      *apply({ snapshot }) {
        yield;
        return { failed: JSON.stringify(snapshot).includes('"bad"') ? [failed] : [] };
      },
      log: silentLoggers,
      metrics: createMetrics(),
    });
    await until(async () => (await get('/proxies'))[0]?.nack, 'the rejection');
    const at = Date.now();
    await until(async () => (await get('/problems')).total === 1, 'the problem');
    expect(Date.now() - at).to.be.lessThan(2000);
    const { origin, ...nack } = (await get('/proxies'))[0].nack;
    expect(nack).to.deep.equal({ ...failed, type: 'VirtualHost' });
    const lines = readFileSync(join(dir, 'a.yaml'), 'utf8').split('\n');
    expect(origin.file).to.equal(join(dir, 'a.yaml'));
    expect(lines[origin.line - 1]).to.contain('matchers');
    const { problems } = await get('/problems');
    const message = 'rejected by proxy gateway-proxy (routes[0]): cannot be compiled';
    expect(problems[0]).to.include({ kind: 'VirtualService', name: 'direct', severity: 'error', message });
    expect(problems[0]).to.include({ ...origin, path: 'spec.virtualHost.routes[0]' });
    const input = JSON.stringify(await get('/snapshots/input'));
    expect(input).to.contain(message);
    expect((await fetch(`http://127.0.0.1:${statsPort}/ready`)).status).to.equal(200);
    writeFileSync(join(dir, 'a.yaml'), direct('good'));
    await until(async () => (await get('/problems')).total === 0, 'no problem');
    await until(async () => (await get('/proxies'))[0].current, 'the proxy is current');
  });

  const route = (body: string, matcher: object): Route => ({
    name: 'r',
    logName: '',
    matchers: [matcher as Route['matchers'][number]],
    action: { type: 'direct', status: 200, body },
    options: {},
    source: { kind: 'VirtualService', name: 'a', namespace: 'gw-system' },
  });
  const host = (name: string, ...routes: Route[]): VirtualHost => ({
    name: `gw-system.${name}`,
    virtualService: { name, namespace: 'gw-system' },
    domains: [`${name}.example`],
    options: {},
    routes,
    authConfigs: [],
    rateLimitConfigs: [],
    graphqlApis: [],
  });
  const LISTENER = 'listener-::-0';
  const snapshotOf = (...virtualHosts: VirtualHost[]): Snapshot => ({
    proxy: 'gateway-proxy',
    version: String(Math.random()),
    settings: DEFAULT_SNAPSHOT_SETTINGS,
    upstreams: [],
    listeners: [
      {
        name: LISTENER,
        bindAddress: '::',
        bindPort: 0,
        gateway: { name: 'g', namespace: 'gw-system' },
        ssl: false,
        options: { accessLoggingService: { accessLog: [] } },
        httpOptions: {},
        routeOptions: {},
        sslConfigurations: [],
        virtualHosts,
      },
    ],
  });

  for (const workers of [1, 2]) {
    it(`does not replace its last version, while everything else is served: ${workers} process(es)`, async () => {
      const server = createDiscoveryServer({ log: silentLoggers, metrics: createMetrics() });
      const listening = await server.listen({ address: '127.0.0.1', port: 0 });
      const publish = (snapshot: Snapshot) =>
        server.update(new Map([['gateway-proxy', { snapshot, unserved: [], secrets: new Map() }]]));
      try {
        publish(snapshotOf(host('a', route('one', { prefix: '/' })), host('b', route('one', { prefix: '/' }))));
        role = await startProxy(
          {
            ...BASE,
            xds: [{ host: '127.0.0.1', port: listening.port }],
            adminPort: 0,
            bindAddress: '127.0.0.1',
            snapshotFile: 'none',
            secretsWaitSeconds: 10,
            proxyName: 'gateway-proxy',
            workers,
            accessLogOverflow: 'drop',
            http1Parser: 'plain',
            http2Client: 'direct',
          },
          PROCESS,
        );
        const [listener] = role.facts['listeners'] as { port: number }[];
        const { request } = await import('node:http');
        const get = (name: string) =>
          new Promise<string>((resolve, reject) => {
            const headers = { host: `${name}.example` };
            const req = request({ host: '127.0.0.1', port: listener!.port, headers, agent: false }, (res) => {
              let text = '';
              res.on('data', (chunk) => (text += chunk)).on('end', () => resolve(`${res.statusCode} ${text}`));
            });
            req.on('error', reject).end();
          });
        expect([await get('a'), await get('b')]).to.deep.equal(['200 one', '200 one']);
        const absent = { configRef: { name: 'absent', namespace: 'gw-system' } };
        for (const [body, invalid, field, message] of [
          ['two', route('bad', { regex: '(' }), 'routes[1].matchers[0].regex', 'not a valid RE2 expression: missing'],
          // Found when it is compiled.
          ['three', { ...route('bad', { prefix: '/' }), options: { extauth: absent } }, 'routes[1]', 'absent'],
        ] as const) {
          publish(
            snapshotOf(host('a', route(body, { prefix: '/' }), invalid), host('b', route(body, { prefix: '/' }))),
          );
          const rejected = () => server.rejections().map(({ rejection }) => rejection);
          await until(() => rejected().some((each) => each.field === field), 'the rejection');
          expect(rejected()).to.have.length(1);
          expect(rejected()[0]).to.include({ type: TYPE.virtualHost, resource: `${LISTENER}/gw-system.a` });
          expect(rejected()[0]!.message).to.contain(message);
          expect([await get('a'), await get('b')]).to.deep.equal(['200 one', `200 ${body}`]);
        }
        publish(snapshotOf(host('a', route('four', { prefix: '/' })), host('b', route('two', { prefix: '/' }))));
        await until(() => server.proxies()[0]!.current, 'accepted');
        expect([await get('a'), await get('b')]).to.deep.equal(['200 four', '200 two']);
      } finally {
        await role?.stop();
        role = undefined;
        listening.close();
      }
    });
  }
});
