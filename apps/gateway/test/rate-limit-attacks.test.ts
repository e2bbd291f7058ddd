import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '@edge-gateway/rate-limit';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { until } from './gateway-process.ts';
import { protect, upstream, type Protected } from './protection.ts';

const NOW = Date.UTC(2027, 0, 5, 12, 0, 1);
const RULES = `{ descriptors: [
  { key: plan, rateLimit: { requestsPerUnit: 2, unit: MINUTE } },
  { key: remote_address, rateLimit: { requestsPerUnit: 1, unit: MINUTE } }] }`;

interface Parts {
  readonly listener?: string;
  readonly log?: string;
  readonly server?: string;
  readonly host?: string;
  readonly route?: string;
}

const resources = (
  { listener = '{}', log = '', server = '{}', host = '{}', route = '{}' }: Parts,
  port = 1,
): string => `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { ratelimit: ${RULES}, ratelimitServer: ${server} }
---
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gateway-proxy, namespace: gw-system }
spec:
  bindPort: 8080
  httpGateway: { options: ${listener} }
  ${log}
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options: ${host}
    routes:
      - matchers: [{ prefix: /slow }]
        routeAction: { single: { upstream: { name: slow, namespace: gw-system } } }
        options: { upgrades: [{ websocket: {} }] }
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo, namespace: gw-system } } }
        options: ${route}
---
${upstream(port, 'slow')}
`;

/** A backend with WebSockets and with responses that end when the test says so. */
class SlowBackend {
  readonly server: Server;
  readonly open: ServerResponse[] = [];
  readonly #sockets = new WebSocketServer({ noServer: true });

  constructor() {
    this.server = createServer((req, res) => {
      if (req.url !== '/slow/silent') res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: a\n\n');
      this.open.push(res);
    });
    this.server.on('upgrade', (req, socket, head) => this.#sockets.handleUpgrade(req, socket, head, () => {}));
  }

  async start(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  close(): void {
    for (const client of this.#sockets.clients) client.terminate();
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('rate limits of hostile and unusual requests', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  async function start(parts: Parts, { store, port = 1 }: { store?: Store; port?: number } = {}): Promise<Protected> {
    const gateway = await protect(resources(parts, port), '', { now: () => NOW, ...(store && { store }) });
    closing.push(gateway.close);
    expect(gateway.state('VirtualService', 'shop')).to.equal('Accepted');
    return gateway;
  }

  async function statuses(gateway: Protected, headers: Record<string, string>[]): Promise<number[]> {
    const found: number[] = [];
    for (const each of headers) found.push((await gateway.ask('/', each)).status);
    return found;
  }

  const byHeader = `{ ratelimit: { rateLimits: [{ actions: [{ requestHeaders: { headerName: x-plan, descriptorKey: plan } }] }] } }`;

  it('counts each request of a pipeline', async () => {
    const gateway = await start({ host: byHeader });
    const socket = connect(gateway.port, '127.0.0.1');
    const one = 'GET / HTTP/1.1\r\nhost: a\r\nx-plan: a\r\n\r\n';
    const last = one.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n');
    socket.write(one + one + one + last);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    await once(socket, 'close');
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).to.deep.equal([
      '200',
      '200',
      '429',
      '429',
    ]);
    expect(gateway.reached()).to.equal(2);
  });

  it('counts the first of several values of a header', async () => {
    const gateway = await start({ host: byHeader });
    const ask = (value: string[]): Promise<number> =>
      new Promise((resolve, reject) => {
        const sent = get({ port: gateway.port, agent: false, headers: { 'x-plan': value } }, (res) => {
          res.resume().on('end', () => resolve(res.statusCode!));
        });
        sent.on('error', reject);
      });
    const found = [await ask(['a', '1']), await ask(['a', '2']), await ask(['a', '3']), await ask(['b', 'a'])];
    expect(found).to.deep.equal([200, 200, 429, 200]);
  });

  describe('in flight', () => {
    const concurrency = `{ ratelimit: { concurrency: [{ actions: [{ genericKey: { descriptorValue: all } }], maxInFlight: 1 }] } }`;
    let backend: SlowBackend;
    let gateway: Protected;

    beforeEach(async () => {
      backend = new SlowBackend();
      closing.push(() => backend.close());
      gateway = await start({ host: concurrency }, { port: await backend.start() });
    });

    const isFree = async (): Promise<boolean> => (await gateway.ask('/')).status === 200;

    function stream(): Promise<IncomingMessage> {
      return new Promise((resolve, reject) => {
        get({ port: gateway.port, path: '/slow', agent: false }, resolve).on('error', reject);
      });
    }

    /** A key that was released twice would admit two requests. */
    async function expectOneSlot(): Promise<void> {
      const [first, second] = [await stream(), await stream()];
      expect([first.statusCode, second.statusCode]).to.deep.equal([200, 429]);
      first.on('error', () => {}).destroy();
    }

    it('is a WebSocket until it closes', async () => {
      const client = new WebSocket(`ws://127.0.0.1:${gateway.port}/slow`);
      await once(client, 'open');
      expect((await gateway.ask('/')).status).to.equal(429);
      client.close();
      await until(isFree, 'the slot');
      await expectOneSlot();
    });

    it('is a stream of events until the upstream ends it', async () => {
      const response = await stream();
      expect((await gateway.ask('/')).status).to.equal(429);
      backend.open[0]!.end();
      await once(response.resume(), 'end');
      await until(isFree, 'the slot');
      await expectOneSlot();
    });

    it('is a stream of events until the client aborts it', async () => {
      const response = await stream();
      expect((await gateway.ask('/')).status).to.equal(429);
      response.on('error', () => {}).destroy();
      await until(isFree, 'the slot');
      await expectOneSlot();
    });

    it('is a request without a response until the client aborts it', async () => {
      const sent = get({ port: gateway.port, path: '/slow/silent', agent: false }).on('error', () => {});
      await until(() => backend.open.length === 1, 'the request');
      expect((await gateway.ask('/')).status).to.equal(429);
      sent.destroy();
      await until(isFree, 'the slot');
      await expectOneSlot();
    });

    it('is a request until its upstream fails', async () => {
      const sent = get({ port: gateway.port, path: '/slow/silent', agent: false });
      const responded = once(sent, 'response');
      await until(() => backend.open.length === 1, 'the request');
      backend.open[0]!.destroy();
      const [response] = (await responded) as [IncomingMessage];
      expect(response.statusCode).to.equal(503);
      response.resume();
      await until(isFree, 'the slot');
      await expectOneSlot();
    });
  });

  describe('with metadata that is no string', () => {
    const limits = (more = ''): string =>
      `{ ratelimit: { rateLimits: [{ actions: [{ metadata: { descriptorKey: plan, source: ROUTE_ENTRY, metadataKey: { key: tenants, path: [{ key: org }] } ${more} } }] }] } }`;
    const three = [{}, {}, {}];

    for (const [name, value, found] of [
      ['a string', 'a', [200, 200, 429]],
      ['a huge string', `"${'x'.repeat(100_000)}"`, [200, 200, 429]],
      ['a number', '7', [200, 200, 200]],
      ['a boolean', 'true', [200, 200, 200]],
      ['null', 'null', [200, 200, 200]],
      ['an object', '{ a: b }', [200, 200, 200]],
      ['a list', '[a, b]', [200, 200, 200]],
    ] as const) {
      it(`${name} is ${found[2] === 429 ? 'counted' : 'not counted'}`, async () => {
        const gateway = await start({ host: limits(), route: `{ envoyMetadata: { tenants: { org: ${value} } } }` });
        expect(await statuses(gateway, three)).to.deep.equal(found);
      });
    }

    it('is counted under the default', async () => {
      const route = '{ envoyMetadata: { tenants: { org: 7 } } }';
      const gateway = await start({ host: limits(', defaultValue: none'), route });
      expect(await statuses(gateway, three)).to.deep.equal([200, 200, 429]);
    });
  });

  describe('by address', () => {
    const host = '{ ratelimit: { rateLimits: [{ actions: [{ remoteAddress: {} }] }] } }';
    const listener = (settings: string): string => `{ httpConnectionManagerSettings: ${settings} }`;
    const from = (...addresses: string[]) => addresses.map((each) => ({ 'x-forwarded-for': each }));

    it('ignores entries in front of those of trusted proxies', async () => {
      const gateway = await start({ host, listener: listener('{ useRemoteAddress: true, xffNumTrustedHops: 1 }') });
      const forged = from('198.51.100.1, 192.0.2.1', '198.51.100.2, 192.0.2.1', '::1,192.0.2.1', '192.0.2.2');
      expect(await statuses(gateway, forged)).to.deep.equal([200, 429, 429, 200]);
    });

    it('ignores all entries without trusted proxies', async () => {
      const gateway = await start({ host, listener: listener('{ useRemoteAddress: true }') });
      expect(await statuses(gateway, from('192.0.2.1', '192.0.2.2'))).to.deep.equal([200, 429]);
    });

    it('counts entries that are no addresses as the connection', async () => {
      const gateway = await start({ host, listener: listener('{ useRemoteAddress: true, xffNumTrustedHops: 1 }') });
      expect(await statuses(gateway, from('nonsense', 'x'.repeat(5000), '999.1.1.1'))).to.deep.equal([200, 429, 429]);
    });
  });

  describe('in access logs', () => {
    const dir = mkdtempSync(join(tmpdir(), 'rate-limit-log-'));
    after(() => rmSync(dir, { recursive: true }));

    const FORMAT =
      '%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %UPSTREAM_HOST% %DYNAMIC_METADATA(envoy.filters.http.ratelimit:over_limit)%\\n';
    const logTo = (path: string): string =>
      `options: { accessLoggingService: { accessLog: [{ fileSink: { path: ${path}, stringFormat: "${FORMAT}" } }] } }`;

    async function lastLine(path: string, lines: number): Promise<string> {
      const read = (): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);
      await until(() => existsSync(path) && read().length === lines, 'the line');
      return read().at(-1)!;
    }

    it('has RL, the details and no upstream for a request over its limit', async () => {
      const path = join(dir, 'over');
      const gateway = await start({ host: byHeader, log: logTo(path) });
      await statuses(
        gateway,
        Array.from({ length: 3 }, () => ({ 'x-plan': 'a' })),
      );
      expect(await lastLine(path, 3)).to.match(/^429 RL request_rate_limited - custom\S*plan\S*$/);
    });

    it('has RL and other details for a request over its local limit', async () => {
      const path = join(dir, 'local');
      const listener = '{ httpLocalRatelimit: { defaultLimit: { maxTokens: 1, fillInterval: 1h } } }';
      const gateway = await start({ listener, log: logTo(path) });
      await statuses(gateway, [{}, {}]);
      expect(await lastLine(path, 2)).to.equal('429 RL local_rate_limited - -');
    });

    it('has RLSE and the details for a request whose limits cannot be checked', async () => {
      const path = join(dir, 'failed');
      const store: Store = { count: () => Promise.reject(new Error('down')), close: async () => {} };
      const gateway = await start({ host: byHeader, log: logTo(path), server: '{ denyOnFail: true }' }, { store });
      const { status, body, headers } = await gateway.ask('/', { 'x-plan': 'a' });
      expect([status, body, headers['x-envoy-ratelimited']]).to.deep.equal([500, '', undefined]);
      expect(await lastLine(path, 1)).to.equal('500 RLSE rate_limiter_error - -');
    });
  });
});
