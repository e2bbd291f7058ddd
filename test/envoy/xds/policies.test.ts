import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer, request, type OutgoingHttpHeaders, type Server } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createIssuer, ISSUER, type Issuer } from '../../../packages/core/test/security/jwt/issuer.ts';
import { makeCertificates } from '../../parts/certificates.ts';
import { freePorts } from '../../parts/free-port.ts';
import { ENVOY, startBothPlanes } from './both-planes.ts';
import { until } from '../../parts/until.ts';

const NAMESPACE = 'gw-system';
const resource = (kind: string, name: string, spec: object) => ({
  apiVersion: kind === 'Upstream' ? 'gw.vendor.io/v1' : 'gateway.vendor.io/v1',
  kind,
  metadata: { name, namespace: NAMESPACE },
  spec,
});
const ROUTE = { routeAction: { single: { upstream: { name: 'app' } } } };
const service = (name: string, options: object = {}, routes: readonly object[] = [ROUTE], more: object = {}) =>
  resource('VirtualService', name, { virtualHost: { domains: [`${name}.test`], routes, options }, ...more });

describe('policies of an Envoy that our control plane configures', function () {
  this.timeout(60_000);
  let backend: Server;
  let issuer: Issuer;
  let planes: Awaited<ReturnType<typeof startBothPlanes>> | undefined;
  let port: number;

  before(async () => {
    issuer = await createIssuer();
    backend = createServer((req, res) => res.end(JSON.stringify(req.headers))).listen(0, '127.0.0.1');
    await once(backend, 'listening');
  });
  beforeEach(async () => {
    [port] = (await freePorts(1)) as [number];
  });
  afterEach(async () => {
    await planes?.close();
    planes = undefined;
  });
  after(() => backend.close());

  const start = async (...services: readonly object[]) =>
    (planes = await startBothPlanes({ resources: all(services) }));
  const all = (services: readonly object[], more: object = {}): object[] => [
    resource('Gateway', 'gateway', { bindAddress: ENVOY, bindPort: port, httpGateway: {}, ...more }),
    resource('Upstream', 'app', {
      static: { hosts: [{ addr: '127.0.0.1', port: (backend.address() as AddressInfo).port }] },
    }),
    ...services,
  ];
  const jwt = () => ({ providers: { idp: { issuer: ISSUER, jwks: { local: { key: issuer.keySet } } } } });

  async function call(
    host: string,
    {
      agent = false,
      tls,
      ...more
    }: { agent?: Agent | false; tls?: object; method?: string; headers?: OutgoingHttpHeaders } = {},
  ): Promise<{ readonly status: number; readonly body: string; readonly socket: unknown }> {
    const send = tls ? httpsRequest : request;
    const sent = send({ host: ENVOY, port, agent, ...more, headers: { host, ...more.headers }, ...tls }).end();
    const [res] = await once(sent, 'response');
    const body = (await res.toArray()).join('');
    return { status: res.statusCode, body, socket: sent.socket };
  }
  for (const [what, options] of [
    ['rbac', () => ({ rbac: { policies: {} } })],
    ['jwt', () => ({ jwt: jwt() })],
    ['csrf', () => ({ csrf: { filterEnabled: { defaultValue: { numerator: 100 } } } })],
  ] as const)
    it(`apply to older connections, even if no host had ${what} before`, async () => {
      await start(service('open'));
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      await until(async () => (await call('open.test', { agent })).status === 200);
      const { socket } = await call('open.test', { agent });
      planes!.set('resources', all([service('open'), service('closed', options())]));
      const forged = { method: 'POST', headers: { origin: 'http://other.test', 'content-length': 0 } };
      await until(async () => (await call('closed.test', forged)).status !== 404);
      const older = await call('closed.test', { agent, ...forged });
      expect(older.socket).to.equal(socket);
      expect(older.status).to.be.oneOf([401, 403]);
      agent.destroy();
    });

  it('keep hosts with client certificates from connections without', async () => {
    const certificates = makeCertificates();
    const read = (file: string): string => readFileSync(file, 'utf8');
    const data = { 'tls.crt': read(certificates.cert), 'tls.key': read(certificates.key) };
    const secret = (name: string, more: object) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: { name, namespace: NAMESPACE },
      stringData: { ...data, ...more },
    });
    const tls = (name: string) => ({
      sslConfig: { secretRef: { name, namespace: NAMESPACE }, sniDomains: [`${name}.test`] },
    });
    const open = [secret('open', {}), service('open', {}, [ROUTE], tls('open'))];
    const closed = [
      secret('closed', { 'ca.crt': read(certificates.ca) }),
      service('closed', {}, [ROUTE], tls('closed')),
    ];
    const over = { servername: 'open.test', rejectUnauthorized: false };
    planes = await startBothPlanes({ resources: all(open, { ssl: true }) });
    await until(() =>
      call('open.test', { tls: over }).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    // Without Node proxies, the listener is not opened.
    planes.set('resources', all([...open, ...closed], { ssl: true }));
    await until(() => planes!.problems.length > 0);
    expect(planes.problems[0]).to.deep.include({
      kind: 'Gateway',
      options: ['sslConfig with client certificates beside another sslConfig'],
    });
    await until(() =>
      call('closed.test', { tls: over }).then(
        () => false,
        () => true,
      ),
    );
    certificates.remove();
  });

  it('select routes by the headers of claims only in Node proxies', async () => {
    const provider = { ...jwt().providers.idp, claimsToHeaders: [{ claim: 'role', header: 'x-role' }] };
    const admin = { matchers: [{ prefix: '/', headers: [{ name: 'X_Role', value: 'admin' }] }], ...ROUTE };
    const options = { jwt: { providers: { idp: provider }, validationPolicy: 'ALLOW_MISSING' } };
    await start(service('shop', options, [admin, { directResponseAction: { status: 204 } }]));
    await until(async () => (await call('shop.test')).status !== 404);
    expect((await call('shop.test', { headers: { 'x-role': 'admin', x_role: 'admin' } })).status).to.equal(500);
    expect(planes!.problems.flatMap((each) => each.options)).to.include(
      'matchers.headers X_Role, which authentication sets',
    );
  });

  it('are not blocked by values that Envoy rejects', async () => {
    const add = (value: string) => ({
      headerManipulation: { requestHeadersToAdd: [{ header: { key: 'x-a', value } }] },
    });
    const provider = { jwks: { remote: { url: 'a b', upstreamRef: { name: 'app', namespace: NAMESPACE } } } };
    const odd = [
      service('formats', add('%REQ(a?b?c)%')),
      service('regexes', {}, [{ matchers: [{ regex: '/\\x{10FFFF}' }], ...ROUTE }]),
      service('methods', {}, [{ matchers: [{ prefix: '/', methods: ['GET', 'A(B'] }], ...ROUTE }]),
      service('tokens', { jwt: { providers: { a: provider, b: {} } } }),
      service('origins', { csrf: { filterEnabled: {}, additionalOrigins: [{ prefix: '' }] } }),
    ];
    await start(...odd, service('shop'));
    await until(async () => (await call('shop.test')).status === 200);
    expect(planes!.server.rejections()).to.deep.equal([]);
    for (const { metadata } of odd as { metadata: { name: string } }[])
      expect((await call(`${metadata.name}.test`)).status, metadata.name).to.equal(500);
  });
});
