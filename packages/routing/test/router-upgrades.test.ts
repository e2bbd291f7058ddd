import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { WebSocketServer } from 'ws';
import { factsOf, type Concern, type Listener, type Route, type SnapshotUpstream } from '@edge-gateway/core';
import { createRouter, type Router } from '../src/router.ts';
import { closeAll, rawClient, rawUpstream } from './forward/harness.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, start, stopAll, upstreamOf } from './snapshots.ts';

const HANDSHAKE =
  'GET /ws HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

/** Renews a session as a login does: two cookies, a header that is set, and one that is removed. */
const renewing: Concern = {
  name: 'renewing',
  option: 'extauth',
  stage: 'extAuth',
  compile: () =>
    function renew(req, _res, next) {
      factsOf(req).responseChanges.push(
        { op: 'append', name: 'set-cookie', value: 'session=2; HttpOnly' },
        { op: 'append', name: 'set-cookie', value: 'mac=3; HttpOnly' },
        { op: 'set', name: 'x-renewed', value: 'yes' },
        { op: 'set', name: 'x-present', value: 'no', where: 'present' },
        { op: 'remove', name: 'x-other' },
        { op: 'set', name: 'connection', value: 'close' },
      );
      next();
    },
};

describe('upgrades through the router', () => {
  const closers: (() => void)[] = [];
  let router: Router;
  afterEach(async () => {
    for (const close of closers.splice(0)) close();
    await router.close();
    await closeAll();
    await stopAll();
  });

  /** Starts a router in front of an upstream; returns its port. */
  async function routed(
    options: Route['options'],
    upstreamPort: number,
    spec: SnapshotUpstream['spec'] = {},
    listener: Partial<Listener> = {},
  ): Promise<number> {
    const host = hostOf([routeOf({ options })]);
    router = createRouter({ concerns: [renewing] });
    router.apply(snapshotOf([host], [{ ...upstreamOf([endpointOf(upstreamPort)]), spec }], listener));
    const server = createServer();
    server.on('upgrade', (req, socket, head) => router.listener(LISTENER).upgrade!(req, socket, head));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  interface Received {
    readonly head: string;
    readonly body: string;
    readonly isClosed: boolean;
  }

  /** The response to a handshake until `isDone`: by default its head, and of a 101 the first bytes behind it. */
  async function handshake(
    options: Route['options'],
    upstreamPort: number,
    isDone = ({ head, body }: Received): boolean => body.includes('hello') || !head.startsWith('HTTP/1.1 101'),
  ): Promise<string> {
    const socket = connect(await routed(options, upstreamPort), '127.0.0.1', () => socket.write(HANDSHAKE));
    closers.push(() => socket.destroy());
    let text = '';
    return new Promise((resolve) => {
      const check = (isClosed: boolean): void => {
        const [head = '', ...body] = text.split('\r\n\r\n');
        if (isDone({ head, body: body.join('\r\n\r\n'), isClosed })) resolve(text);
      };
      socket.on('error', () => {}).on('close', () => check(true));
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        check(false);
      });
    });
  }

  async function webSocketServer(): Promise<number> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => socket.send('hello'));
    await new Promise((resolve) => server.once('listening', resolve));
    closers.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  it('send the headers that concerns recorded with the 101, such as the cookies of a renewed session', async () => {
    const text = await handshake({ extauth: {} }, await webSocketServer());
    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head.split('\r\n', 1)[0]).to.equal('HTTP/1.1 101 Switching Protocols');
    expect(head.match(/^set-cookie: .*$/gim)).to.deep.equal([
      'set-cookie: session=2; HttpOnly',
      'set-cookie: mac=3; HttpOnly',
    ]);
    expect(head).to.contain('x-renewed: yes').and.not.contain('x-present');
    expect(head.match(/^connection: .*$/gim)).to.deep.equal(['connection: Upgrade']);
    expect(body).to.contain('hello');
  });

  it('apply the header manipulation of the route to the 101', async () => {
    const headerManipulation = {
      responseHeadersToAdd: [{ header: { key: 'strict-transport-security', value: 'max-age=60' } }],
      responseHeadersToRemove: ['x-internal'],
    };
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('headers', (headers: string[]) => headers.push('x-internal: 10.0.0.1', 'x-kept: 1'));
    server.on('connection', (socket) => socket.send('hello'));
    await new Promise((resolve) => server.once('listening', resolve));
    closers.push(() => server.close());
    const text = await handshake({ headerManipulation }, (server.address() as AddressInfo).port);
    expect(text).to.contain('HTTP/1.1 101 Switching Protocols').and.contain('hello');
    expect(text.toLowerCase()).to.contain('strict-transport-security: max-age=60\r\n').and.contain('x-kept: 1\r\n');
    expect(text.toLowerCase()).not.to.contain('x-internal');
  });

  it('send them with the 503 of an upstream that is away, too', async () => {
    const text = await handshake({ extauth: {} }, 1);
    expect(text).to.match(/^HTTP\/1\.1 503 /);
    expect(text).to.contain('set-cookie: session=2; HttpOnly\r\n').and.contain('set-cookie: mac=3; HttpOnly\r\n');
  });

  describe('that fail', () => {
    const refusing = { circuitBreakers: { maxRequests: 0 } };

    /** The response to a handshake of an upstream that receives none. */
    async function refused(options: Route['options'], listener: Partial<Listener> = {}): Promise<string> {
      const { text } = await rawClient(await routed(options, 1, refusing, listener), HANDSHAKE);
      return text;
    }

    it('name the overload of the upstream', async () => {
      const text = await refused({});
      expect(text).to.match(/^HTTP\/1\.1 503 /);
      expect(text).to.match(/\r\nx-envoy-overloaded: true\r\n/);
      expect(text).to.match(/reset reason: overflow$/);
    });

    it('do not name it without x-envoy headers', async () => {
      const text = await refused({}, { httpOptions: { router: { suppressEnvoyHeaders: true } } });
      expect(text)
        .to.match(/^HTTP\/1\.1 503 /)
        .and.not.contain('x-envoy');
    });

    it('have the headers of every response of the route', async () => {
      const text = await refused({
        headerManipulation: { responseHeadersToAdd: [{ header: { key: 'x-added', value: 'yes' }, append: false }] },
      });
      for (const header of ['x-added: yes', 'server: envoy', 'connection: close'])
        expect(text.toLowerCase()).to.contain(`\r\n${header}\r\n`);
    });

    it('end after the timeout of the route', async () => {
      const { port } = await rawUpstream(() => {});
      const { text } = await rawClient(await routed({ timeout: '0.05s' }, port), HANDSHAKE);
      expect(text)
        .to.match(/^HTTP\/1\.1 504 /)
        .and.match(/\r\n\r\nupstream request timeout$/);
    });
  });

  describe('that an upstream does not accept', () => {
    for (const [name, response, expected] of [
      ['204 and a body', '204 No Content\r\ncontent-length: 5\r\n\r\nhello', ''],
      ['204 and a length', '204 No Content\r\ncontent-length: 0\r\n\r\n', ''],
      ['304 and a body', '304 Not Modified\r\ncontent-length: 5\r\n\r\nhello', ''],
      ['more than its length', '403 Forbidden\r\ncontent-length: 2\r\n\r\nno, never', 'no'],
    ] as const)
      it(`are responded to with the response of ${name}`, async () => {
        const { port } = await rawUpstream((socket) => socket.write(`HTTP/1.1 ${response}`));
        const { text } = await rawClient(await routed({}, port), HANDSHAKE);
        const [head = '', body] = text.split('\r\n\r\n');
        expect(head.split('\r\n', 1)[0]).to.equal(`HTTP/1.1 ${response.split('\r\n', 1)[0]}`);
        expect(body).to.equal(expected);
        if (name.startsWith('204')) expect(head).not.to.match(/content-length|transfer-encoding/i);
      });

    const CARD = '4111 1111 1111 1111';

    it('are responded to with the changes, filters and headers of the route, each once', async () => {
      const { port } = await start((_req, res) => {
        res.writeHead(200, { 'content-type': 'text/plain', 'x-internal': 'secret', connection: 'x-hop', 'x-hop': '1' });
        res.write('card ');
        res.end(CARD);
      });
      const options: Route['options'] = {
        extauth: {},
        dlp: { actions: [{ actionType: 'VISA' }] },
        headerManipulation: { responseHeadersToRemove: ['x-internal'] },
      };
      const text = await handshake(options, port, ({ body }) => body.includes('0\r\n\r\n'));
      expect(text).to.match(/^HTTP\/1\.1 200 /);
      expect(text).to.contain('XXXXXXXXXXXXXX 1111').and.not.contain('4111');
      expect(text).not.to.contain('x-internal').and.not.to.contain('x-hop');
      expect(text.match(/^set-cookie: .*$/gim)).to.have.length(2);
    });

    it('end when the response takes longer than the route allows', async () => {
      const { port } = await start((_req, res) => void res.writeHead(200).write('one'));
      const text = await handshake({ timeout: '0.5s' }, port, ({ isClosed }) => isClosed);
      expect(text).to.match(/^HTTP\/1\.1 200 /);
    });

    it('are aborted if the client disconnects during the response', async () => {
      let ended: () => void;
      const aborted = new Promise<void>((resolve) => (ended = resolve));
      const { port } = await start(
        (_req, res) =>
          void res
            .on('close', () => ended())
            .writeHead(200)
            .write('one'),
      );
      const socket = connect(await routed({}, port), '127.0.0.1', () => socket.write(HANDSHAKE));
      await once(socket, 'data');
      socket.end();
      await aborted;
    });

    it('end with an aborted connection if the response does', async () => {
      const { port } = await start((_req, res) => {
        res.writeHead(403, { 'content-length': '10' }).write('abc', () => res.destroy());
      });
      const text = await handshake({}, port, ({ isClosed }) => isClosed);
      expect(text).to.match(/^HTTP\/1\.1 403 /);
    });
  });

  for (const [name, after] of [
    ['', ''],
    [', having sent data already', 'z'.repeat(500)],
  ] as const)
    it(`are aborted if the client disconnects before the upstream responds${name}`, async () => {
      const upstream = createServer();
      const aborted = new Promise<void>((resolve) => {
        upstream.on('upgrade', (_req, socket) =>
          socket
            .on('error', () => {})
            .on('end', resolve)
            .resume(),
        );
      });
      const asked = once(upstream, 'upgrade');
      await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
      closers.push(() => upstream.close());
      const port = await routed({}, (upstream.address() as AddressInfo).port);
      const socket = connect(port, '127.0.0.1', () => socket.write(HANDSHAKE + after));
      await asked;
      socket.end();
      await aborted;
    });
});
