import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createNetServer, type Server } from 'node:net';
import { createContext, silentLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import type { HealthCheck } from '../../../src/upstream/health/health-spec.ts';
import { closeAll, httpUpstream, listen, rawUpstream, until, whenDone } from '../../forward/harness.ts';
import { certificates, secretsOf } from '../certificates.ts';
import { http2Upstream } from '../http2/servers.ts';
import { checkedUpstream, OFTEN } from './checked.ts';

type HttpCheck = NonNullable<HealthCheck['httpHealthCheck']>;
type Answer = (req: IncomingMessage, res: ServerResponse) => void;

const http = (check: HttpCheck = {}, rest: HealthCheck = {}): HealthCheck => ({
  ...rest,
  httpHealthCheck: { path: '/health', ...check },
});

/** Runs one check against a server and returns its result. */
async function resultOf(answer: Answer, check: HttpCheck = {}): Promise<'healthy' | 'degraded' | 'unhealthy'> {
  const port = await httpUpstream(answer);
  const checked = checkedUpstream(port, http(check, { noTrafficInterval: '1h' }));
  await checked.checks(1);
  if (checked.flags().includes('failed_active_hc')) return 'unhealthy';
  return checked.flags() === '' ? 'healthy' : 'degraded';
}

const status =
  (code: number): Answer =>
  (_req, res) =>
    void res.writeHead(code).end();

describe('HTTP health checks', () => {
  afterEach(closeAll);

  it('keep a host unhealthy until the first check passes', async () => {
    let answer: (() => void) | undefined;
    const port = await httpUpstream((_req, res) => (answer = () => void res.end()));
    const checked = checkedUpstream(port, http());
    expect(checked.flags()).to.equal('failed_active_hc');
    await until(() => answer !== undefined);
    expect(checked.flags()).to.equal('failed_active_hc');
    answer!();
    await checked.becomes(true);
    expect(checked.flags()).to.equal('');
    expect(checked.stat('membership_healthy')).to.equal(1);
    expect(checked.stat('health_check.healthy')).to.equal(1);
  });

  it('send the path, the cluster as host, and a user agent that tells them apart', async () => {
    let seen: IncomingMessage | undefined;
    const port = await httpUpstream((req, res) => void ((seen = req), res.end()));
    await checkedUpstream(port, http()).becomes(true);
    expect(seen!.method).to.equal('GET');
    expect(seen!.url).to.equal('/health');
    expect(seen!.headers).to.include({ host: 'echo_gw-system', 'user-agent': 'Envoy/HC' });
  });

  for (const [title, endpoint, host] of [
    ['the addr of a static host', {}, '127.0.0.1'],
    ['the name that an address was resolved from', { hostname: 'shop.example' }, 'shop.example'],
    ['the host of the endpoint', { hostname: 'shop.example', healthCheck: { hostname: 'own.example' } }, 'own.example'],
  ] as const)
    it(`send ${title} as host, over both versions`, async () => {
      const hosts: (string | undefined)[] = [];
      const port = await httpUpstream((req, res) => void (hosts.push(req.headers.host), res.end()));
      const spec = { static: { hosts: [] }, healthChecks: [{ ...OFTEN, ...http() }] };
      await checkedUpstream(port, {}, { endpoints: [endpoint], upstream: { spec } }).becomes(true);
      expect(hosts[0]).to.equal(host);
      const over2 = await http2Upstream((stream, headers) => {
        hosts.push(headers[':authority']);
        stream.respond({ ':status': 200 }, { endStream: true });
      });
      const spec2 = { ...spec, healthChecks: [{ ...OFTEN, ...http({ useHttp2: true }) }] };
      await checkedUpstream(over2.port, {}, { endpoints: [endpoint], upstream: { spec: spec2 } }).becomes(true);
      expect(hosts.at(-1)).to.equal(host);
    });

  it('send the address of a failover endpoint as host', async () => {
    let host: string | undefined;
    const port = await httpUpstream((req, res) => void ((host = req.headers.host), res.end()));
    await checkedUpstream(port, http(), { endpoints: [{ priority: 1 }] }).becomes(true);
    expect(host).to.equal('127.0.0.1');
  });

  it('send the given method, host and headers, and those of secrets', async () => {
    let seen: IncomingMessage | undefined;
    const port = await httpUpstream((req, res) => void ((seen = req), res.end()));
    const secrets = {
      get: ({ name, namespace }: { name: string; namespace: string }) => {
        const data = { 'x-key': Buffer.from('s3cret').toString('base64') };
        return name === 'keys' && namespace === 'gw-system' ? { type: 'Opaque', data } : undefined;
      },
    };
    const check: HttpCheck = {
      host: 'checks.example',
      method: 'POST',
      requestHeadersToAdd: [
        { header: { key: 'x-a', value: '1' } },
        { header: { key: 'x-a', value: '2' } },
        { headerSecretRef: { name: 'keys' } },
      ],
      requestHeadersToRemove: ['user-agent'],
    };
    await checkedUpstream(port, http(check), { context: createContext({ log: silentLoggers, secrets }) }).becomes(true);
    expect(seen!.method).to.equal('POST');
    expect(seen!.headers).to.include({
      host: 'checks.example',
      'x-a': '1, 2',
      'x-key': 's3cret',
      'content-length': '0',
    });
    expect(seen!.headers).not.to.have.property('user-agent');
    expect(seen!.headers).not.to.have.property('transfer-encoding');
  });

  it('use the settings of the host before those of the check', async () => {
    let seen: IncomingMessage | undefined;
    const port = await httpUpstream((req, res) => void ((seen = req), res.end()));
    const healthCheck = { path: '/own', method: 'HEAD', hostname: 'own.example', port };
    const checked = checkedUpstream(1, http(), { endpoints: [{ healthCheck }] });
    await checked.becomes(true);
    expect(seen!.method).to.equal('HEAD');
    expect(seen!.url).to.equal('/own');
    expect(seen!.headers.host).to.equal('own.example');
  });

  it('fail if a secret of a header does not exist', async () => {
    let requests = 0;
    const port = await httpUpstream((_req, res) => void (requests++, res.end()));
    const checked = checkedUpstream(port, http({ requestHeadersToAdd: [{ headerSecretRef: { name: 'none' } }] }));
    await checked.checks(2);
    expect(checked.flags()).to.equal('failed_active_hc');
    expect(requests).to.equal(0);
  });

  for (const [title, answer, check, expected] of [
    ['200', status(200), {}, 'healthy'],
    ['201', status(201), {}, 'unhealthy'],
    ['503', status(503), {}, 'unhealthy'],
    [
      'a status in a range',
      status(404),
      {
        expectedStatuses: [
          { start: 200, end: 300 },
          { start: 404, end: 405 },
        ],
      },
      'healthy',
    ],
    ['the end of a range', status(300), { expectedStatuses: [{ start: 200, end: 300 }] }, 'unhealthy'],
    ['200 that the ranges do not contain', status(200), { expectedStatuses: [{ start: 204, end: 205 }] }, 'unhealthy'],
    ['a degraded service', (_req, res) => void res.writeHead(200, { 'x-envoy-degraded': '' }).end(), {}, 'degraded'],
    [
      'the expected service',
      (_req, res) => void res.writeHead(200, { 'x-envoy-upstream-healthchecked-cluster': 'shop-2' }).end(),
      { serviceName: 'shop' },
      'healthy',
    ],
    [
      'another service',
      (_req, res) => void res.writeHead(200, { 'x-envoy-upstream-healthchecked-cluster': 'pets' }).end(),
      { serviceName: 'shop' },
      'unhealthy',
    ],
    ['no service', status(200), { serviceName: 'shop' }, 'unhealthy'],
    [
      '101',
      (_req, res) =>
        void res.socket!.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      {},
      'unhealthy',
    ],
  ] as readonly (readonly [string, Answer, HttpCheck, string])[]) {
    it(`find a host ${expected} that responds with ${title}`, async () => {
      expect(await resultOf(answer, check)).to.equal(expected);
    });
  }

  it('need a complete response', async () => {
    const upstream = await rawUpstream((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'));
    const checked = checkedUpstream(upstream.port, http());
    await checked.checks(2);
    expect(checked.flags()).to.equal('failed_active_hc');
    expect(checked.stat('health_check.network_failure')).to.be.at.least(2);
  });

  it('count timeouts as failures of the network', async () => {
    const port = await httpUpstream(() => {});
    const checked = checkedUpstream(port, http({}, { timeout: '0.02s' }));
    await checked.checks(2);
    expect(checked.flags()).to.equal('failed_active_hc,active_hc_timeout');
    expect(checked.stat('health_check.network_failure')).to.be.at.least(2);
  });

  it('wait for the response as long as a timer can, with a longer timeout', async () => {
    const checked = checkedUpstream(await httpUpstream(status(200)), http({}, { timeout: '9000h' }));
    await checked.checks(3);
    expect(checked.stat('health_check.failure')).to.equal(0);
  });

  it('end the mark of a timeout when one passes', async () => {
    let silent = true;
    const port = await httpUpstream((_req, res) => void (silent || res.end()));
    const checked = checkedUpstream(port, http({}, { timeout: '0.05s' }));
    await until(() => checked.flags() === 'failed_active_hc,active_hc_timeout', 'a timeout');
    silent = false;
    await until(() => checked.flags() === '', 'no flag');
  });

  it('reuse the connection unless reuseConnection is false', async () => {
    const upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
    const reusing = checkedUpstream(upstream.port, http());
    await reusing.checks(5);
    expect(upstream.connections).to.equal(1);
    await reusing.upstreams.close();
    const fresh = checkedUpstream(upstream.port, http({}, { reuseConnection: false }));
    await fresh.checks(5);
    expect(upstream.connections).to.be.at.least(6);
  });

  it('do not fail because the server closed the idle connection', async () => {
    const upstream = await rawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', () => socket.end());
    });
    const checked = checkedUpstream(upstream.port, http());
    await checked.checks(10);
    expect(checked.stat('health_check.failure')).to.equal(0);
  });

  it('do not count as traffic: neither requests nor connections of the upstream', async () => {
    const port = await httpUpstream(status(200));
    const checked = checkedUpstream(port, http());
    await checked.checks(3);
    expect(checked.stat('upstream_rq_total')).to.equal(0);
    expect(checked.stat('upstream_cx_total')).to.equal(0);
  });

  it('end with their upstream', async () => {
    let requests = 0;
    const port = await httpUpstream((_req, res) => void (requests++, res.end()));
    const checked = checkedUpstream(port, http());
    await checked.becomes(true);
    await checked.upstreams.close();
    const before = requests;
    const other = checkedUpstream(await httpUpstream(status(200)), http());
    await other.checks(5);
    expect(requests).to.equal(before);
  });

  it('abort the check in progress when their upstream is removed', async () => {
    let aborted = false;
    const port = await httpUpstream((req) => void req.on('close', () => (aborted = true)));
    const checked = checkedUpstream(port, http());
    await until(() => checked.stat('health_check.attempt') === 1);
    checked.upstreams.apply([]);
    await until(() => aborted || checked.stat('health_check.attempt') === 0);
  });

  it('close a connection that is established after the end of the check', async () => {
    const open = new Set<unknown>();
    let accepted = 0;
    const server = createNetServer((socket) => {
      accepted++;
      open.add(socket);
      socket.on('error', () => {}).on('close', () => open.delete(socket));
      socket.resume();
    });
    const port = await listen(server);
    whenDone(() => void server.close());
    const checked = checkedUpstream(port, http());
    await until(() => checked.stat('health_check.attempt') === 1);
    await checked.upstreams.close();
    await until(() => accepted === 0 || open.size === 0, 'closed');
  });

  it('verify the certificate as requests do', async () => {
    const { ca, otherCa, server } = certificates();
    const upstream = createHttpsServer(server, status(200));
    upstream.on('tlsClientError', () => {});
    const port = await listen(upstream as unknown as Server);
    whenDone(() => {
      upstream.closeAllConnections();
      upstream.close();
    });
    const run = (root: string) => {
      const secrets = secretsOf({});
      secrets.set('tls', { 'ca.crt': root });
      const context = createContext({ log: silentLoggers, secrets });
      const healthChecks = [
        { ...http(), timeout: '5s', noTrafficInterval: '0.01s', healthyThreshold: 1, unhealthyThreshold: 1 },
      ];
      const spec = { sslConfig: { secretRef: { name: 'tls' } }, healthChecks };
      return checkedUpstream(port, http(), {
        context,
        endpoints: [{ sni: 'api.example.com' }],
        upstream: { tls: true, spec },
      });
    };
    await run(ca).becomes(true);
    const distrusting = run(otherCa);
    await distrusting.checks(2);
    expect(distrusting.flags()).to.equal('failed_active_hc');
  });
});

describe('HTTP health checks over HTTP/2', () => {
  afterEach(closeAll);

  async function http2Upstream(
    answer: (headers: Record<string, unknown>) => object,
  ): Promise<{ port: number; sessions(): number }> {
    let sessions = 0;
    const server: Http2Server = createHttp2Server();
    const open = new Set<{ destroy(): void }>();
    server.on('session', (session) => {
      sessions++;
      open.add(session);
    });
    server.on('stream', (stream, headers) => {
      stream.respond(answer(headers) as never);
      stream.end('{"ok":true}');
    });
    const port = await listen(server as unknown as Server);
    whenDone(() => {
      for (const session of open) session.destroy();
      server.close();
    });
    return { port, sessions: () => sessions };
  }

  it('pass, with the same headers, and reuse the connection', async () => {
    let seen: Record<string, unknown> = {};
    const upstream = await http2Upstream((headers) => {
      seen = headers;
      return { ':status': 200 };
    });
    const checked = checkedUpstream(upstream.port, http({ useHttp2: true, host: 'h2.example' }));
    await checked.checks(5);
    expect(checked.flags()).to.equal('');
    expect(seen).to.include({
      ':path': '/health',
      ':method': 'GET',
      ':authority': 'h2.example',
      'user-agent': 'Envoy/HC',
    });
    expect(upstream.sessions()).to.equal(1);
  });

  it('fail by status, and at servers without HTTP/2', async () => {
    const failing = await http2Upstream(() => ({ ':status': 503 }));
    const checked = checkedUpstream(failing.port, http({ useHttp2: true }));
    await checked.checks(2);
    expect(checked.flags()).to.equal('failed_active_hc');
    const http1 = checkedUpstream(await httpUpstream(status(200)), http({ useHttp2: true }));
    await http1.checks(2);
    expect(http1.stat('health_check.network_failure')).to.be.at.least(2);
  });

  it('inspect the body', async () => {
    const upstream = await http2Upstream(() => ({ ':status': 200 }));
    const responseAssertions = {
      responseMatchers: [{ responseMatch: { jsonKey: { path: [{ key: 'ok' }] }, regex: 'true' } }],
    };
    await checkedUpstream(upstream.port, http({ useHttp2: true, responseAssertions })).becomes(true);
  });
});
