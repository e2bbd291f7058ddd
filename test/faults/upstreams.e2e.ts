import type { Socket } from 'node:net';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { startGatewayBefore, type GatewayBefore, type GatewayBeforeOptions, type LogLine } from './gateway-before.ts';
import { askOnce, openClient, startRawUpstream, statusOf, type RawUpstream } from './raw-sockets.ts';

const GET = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const HALF = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf';
const POISON = ['HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison', 'HTTP/1.1 200 OK\r\nx-', 'garbage'];
const AT_ONCE = 20;

/** Runs `act` so many times, a few at a time. */
async function times(count: number, act: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

describe('broken upstreams behind a gateway', () => {
  let upstream: RawUpstream;
  let gateway: GatewayBefore;
  let act: (socket: Socket, head: string) => void = () => {};

  async function start(options: Omit<GatewayBeforeOptions, 'upstreamPort'> = {}): Promise<void> {
    upstream = await startRawUpstream((socket, head) => act(socket, head));
    gateway = await startGatewayBefore({ upstreamPort: upstream.port, ...options });
  }
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  /** Fails unless nothing of earlier requests is left. */
  async function expectIdle(): Promise<void> {
    await until(async () => (await gateway.stat('upstream_rq_active')) === 0, 'no request is in progress');
    expect(gateway.process.child.exitCode).to.equal(null);
  }

  const ENDS: Readonly<Record<string, (socket: Socket) => void>> = {
    reset: (socket) => socket.resetAndDestroy(),
    FIN: (socket) => socket.end(),
  };
  for (const [name, end] of Object.entries(ENDS)) {
    it(`300 of 600 bodies end in the middle by ${name}: each is cut off and logged, the others are complete`, async () => {
      await start();
      act = (socket, head) => {
        if (head.includes('/whole')) return void socket.write(OK);
        socket.write(HALF);
        setTimeout(() => end(socket), 20);
      };
      const count = { whole: 0, cut: 0 };
      await times(600, async (i) => {
        const message = await askOnce(gateway.port, GET(i % 2 === 0 ? '/whole' : '/cut'));
        expect(statusOf(message)).to.equal(200);
        if (message!.complete) expect(message!.body).to.equal('ok');
        count[message!.complete ? 'whole' : 'cut']++;
      });
      expect(count).to.deep.equal({ whole: 300, cut: 300 });
      const cut = (): LogLine[] => gateway.log().filter(({ path }) => path === '/cut');
      await until(() => cut().length === 300, 'a line for each');
      expect(cut().filter(({ flags }) => flags === 'UC')).to.have.length(300);
      await expectIdle();
    });
  }

  const LIMITS: Readonly<Record<string, Omit<GatewayBeforeOptions, 'upstreamPort'>>> = {
    'the timeout of the route': { route: { timeout: '2s' } },
    'the idle timeout of streams': { route: { timeout: '0s' }, settings: { streamIdleTimeout: '0.5s' } },
  };
  for (const [name, options] of Object.entries(LIMITS)) {
    it(`50 responses drip one byte a second: ${name} aborts them and frees their connections`, async () => {
      await start(options);
      const drips = new Set<NodeJS.Timeout>();
      act = (socket, head) => {
        if (head.includes('/good')) return void socket.write(OK);
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
        drips.add(setInterval(() => socket.write('x'), 1000));
      };
      const began = Date.now();
      const messages = await Promise.all(Array.from({ length: 50 }, () => askOnce(gateway.port, GET('/drip'))));
      expect(Date.now() - began).to.be.lessThan(10_000);
      for (const message of messages) expect([statusOf(message), message?.complete]).to.deep.equal([200, false]);
      for (const drip of drips) clearInterval(drip);
      await until(() => upstream.sockets.size === 0, 'the connections are closed');
      await expectIdle();
      expect(statusOf(await askOnce(gateway.port, GET('/good')))).to.equal(200);
    });
  }

  it('each invalid response results in 502, the next request is served on another connection', async () => {
    const ODD = [
      'HTTP/1.1 099 Low\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
      `HTTP/1.1 200 OK\r\nx-big: ${'a'.repeat(65_536)}\r\ncontent-length: 0\r\n\r\n`,
      'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n3\r\nbad\r\n0\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nbad!',
      'HTTP/1.1 200 OK\r\nx-a: b\0c\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 200 OK\ncontent-length: 3\n\nbad\r\n\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nbad\r\n0\r\n\r\n',
      'SSH-2.0-OpenSSH_9.2p1\r\n\r\n',
    ];
    await start();
    act = (socket, head) => {
      const index = /\/odd-(\d+)/.exec(head)?.[1];
      socket.write(index === undefined ? OK : ODD[Number(index)]!, 'latin1');
    };
    const statuses = new Map<number, number>();
    await times(450, async (i) => {
      const client = await openClient(gateway.port);
      const odd = statusOf(await client.ask(GET(`/odd-${i % ODD.length}`)));
      statuses.set(odd, (statuses.get(odd) ?? 0) + 1);
      const good = await client.ask(GET('/good'));
      expect(good && [statusOf(good), good.body]).to.deep.equal([200, 'ok']);
      client.socket.destroy();
    });
    expect([...statuses]).to.deep.equal([[502, 450]]);
    await expectIdle();
  });

  it('the upstream sends more after each response: 0 of 10,000 responses are poisoned', async () => {
    await start();
    act = (socket, head) => {
      const path = head.split(' ')[1]!;
      const response = `HTTP/1.1 200 OK\r\ncontent-length: ${path.length}\r\n\r\n${path}`;
      // In one piece: what arrives after the next request was sent is its response, for any client of HTTP/1.1.
      socket.write(response + POISON[path.length % POISON.length]!);
    };
    const clients = await Promise.all(Array.from({ length: AT_ONCE }, () => openClient(gateway.port)));
    const count = { right: 0, wrong: 0 };
    await Promise.all(
      clients.map(async (client, lane) => {
        for (let i = 0; i < 10_000 / AT_ONCE; i++) {
          const path = `/${lane}-${i}`;
          const message = await client.ask(GET(path));
          count[message?.body === path ? 'right' : 'wrong']++;
        }
        client.socket.destroy();
      }),
    );
    expect(count).to.deep.equal({ right: 10_000, wrong: 0 });
    await expectIdle();
  });

  it('200 uploads get an early response: each response arrives completely, the uploads stop', async () => {
    const body = 'too large '.repeat(1000);
    await start();
    act = (socket, head) => {
      if (head.startsWith('POST'))
        socket.write(`HTTP/1.1 413 Content Too Large\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    };
    const count = { whole: 0, other: 0 };
    await times(200, async () => {
      const client = await openClient(gateway.port);
      const upload = client.ask('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n');
      const more = setInterval(() => client.socket.write('x'.repeat(10_000)), 2);
      const message = await upload;
      clearInterval(more);
      client.socket.destroy();
      count[statusOf(message) === 413 && message?.body === body ? 'whole' : 'other']++;
    });
    expect(count).to.deep.equal({ whole: 200, other: 0 });
    await until(() => upstream.sockets.size === 0, 'the uploads have stopped');
    await expectIdle();
  });

  const PHASES: Readonly<Record<string, { readonly sends: string; readonly upstreamSends: string }>> = {
    'in the body': { sends: 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc', upstreamSends: '' },
    'in a chunk': {
      sends: 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc',
      upstreamSends: '',
    },
    'before the response': { sends: GET('/'), upstreamSends: '' },
    'after the response head': { sends: GET('/'), upstreamSends: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n' },
    'in the response body': { sends: GET('/'), upstreamSends: HALF },
    'in a response of chunks': {
      sends: GET('/'),
      upstreamSends: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc',
    },
  };

  it('clients disconnect in each phase: requests upstream are aborted within 100 ms, no file stays open', async () => {
    await start();
    // The connection that the admin port keeps open for this test, and what is opened at the first request.
    act = (socket) => socket.write(OK);
    expect(statusOf(await askOnce(gateway.port, GET('/')))).to.equal(200);
    await expectIdle();
    const base = gateway.openFiles();
    const took: number[] = [];
    for (const { sends, upstreamSends } of Object.values(PHASES)) {
      let left = 0;
      act = (socket) => {
        socket.write(upstreamSends);
        socket.on('close', () => took.push(performance.now() - left));
      };
      const clients = await Promise.all(Array.from({ length: AT_ONCE }, () => openClient(gateway.port)));
      const before = took.length;
      const arrived = clients.map(({ socket }) => new Promise((resolve) => socket.once('data', resolve)));
      for (const { socket } of clients) socket.write(sends);
      await until(async () => (await gateway.stat('upstream_rq_active')) === AT_ONCE, 'all requests are upstream');
      if (upstreamSends !== '') await Promise.all(arrived);
      left = performance.now();
      clients.forEach(({ socket }, index) => (index % 2 === 0 ? socket.destroy() : socket.resetAndDestroy()));
      await until(() => took.length === before + AT_ONCE, 'the upstream sees all of them end');
    }
    expect(took).to.have.length(AT_ONCE * Object.keys(PHASES).length);
    expect(took.filter((ms) => ms > 100)).to.deep.equal([]);
    await expectIdle();
    await until(() => gateway.openFiles() <= base, 'files are closed');
  });
});
