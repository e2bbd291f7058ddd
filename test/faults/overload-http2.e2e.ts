import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { http2Client, type Http2Client } from '../../packages/routing/test/listen/http2/client.ts';
import {
  CODE,
  FLAG,
  FRAME,
  frame,
  FrameClient,
  requestFields,
  requestFrame,
  uint32,
} from '../../packages/routing/test/listen/http2/frames.ts';
import { startGatewayBefore, type GatewayBefore, type GatewayBeforeOptions } from './gateway-before.ts';
import { pourResponse, startRawUpstream, type RawUpstream } from './raw-sockets.ts';

const MIB = 1024 * 1024;
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

describe('HTTP/2 clients that overload a gateway', () => {
  let upstream: RawUpstream;
  let gateway: GatewayBefore;
  const closers: (() => void)[] = [];
  let act: (socket: Socket, head: string) => void = () => {};

  async function start(options: Omit<GatewayBeforeOptions, 'upstreamPort'> = {}): Promise<void> {
    act = (socket) => socket.write(OK);
    upstream = await startRawUpstream((socket, head) => act(socket, head));
    gateway = await startGatewayBefore({ upstreamPort: upstream.port, ...options });
  }
  afterEach(async () => {
    for (const close of closers.splice(0)) close();
    await gateway.close();
    await upstream.close();
  });

  async function client(): Promise<Http2Client> {
    const opened = await http2Client(gateway.port);
    closers.push(opened.close);
    return opened;
  }

  async function frames(): Promise<FrameClient> {
    const opened = await FrameClient.open(gateway.port);
    opened.socket.setMaxListeners(0);
    closers.push(() => opened.close());
    return opened;
  }

  const statusOf = async (of: Http2Client, path = '/'): Promise<number> =>
    of.ask(path).then(
      ({ status }) => status,
      () => 0,
    );

  it('1,000 clients never finish their first head: closed within 15 s, others are served', async () => {
    await start();
    const slow: FrameClient[] = [];
    for (let i = 0; i < 20; i++) slow.push(...(await Promise.all(Array.from({ length: 50 }, frames))));
    const began = performance.now();
    const closedAfter: number[] = [];
    for (const each of slow) {
      // A head that is to be continued.
      each.send(frame(FRAME.headers, 0, 1, requestFields('/').subarray(0, 5)));
      void each.closed.then(() => closedAfter.push(performance.now() - began));
    }
    const other = await client();
    while (closedAfter.length < slow.length) {
      expect(await statusOf(other)).to.equal(200);
      await wait(5);
    }
    expect(Math.max(...closedAfter)).to.be.lessThan(15_000);
  });

  it('500 streams of 100 MiB are hardly read: memory stays bounded, the upstream has to wait', async () => {
    await start();
    const size = 100 * MIB;
    let sent = 0;
    act = (socket, head) => {
      if (!head.includes('/big')) return void socket.write(OK);
      pourResponse(socket, size, (bytes) => (sent += bytes));
    };
    const base = gateway.memory().now;
    const slow = await Promise.all(Array.from({ length: 50 }, frames));
    const begun = new Set<string>();
    const isHead = ({ type, stream }: { type: number; stream: number }, wanted: number): boolean =>
      type === FRAME.headers && stream === wanted;
    for (const [i, each] of slow.entries()) {
      // The window of the connection stays at 64 KiB: it is never enlarged.
      for (let stream = 1; stream < 20; stream += 2) {
        each.send(requestFrame(stream, '/big'));
        void each.until((received) => isHead(received, stream)).then(() => begun.add(`${i}/${stream}`));
      }
    }
    for (let last = -1; sent !== last || begun.size < 500;) {
      last = sent;
      await wait(500);
    }
    expect(sent).to.be.lessThan(500 * 10 * MIB);
    expect(gateway.memory().peak - base).to.be.lessThan(500 * MIB);
    const reader = await client();
    const { status, body } = await reader.ask('/big');
    expect([status, body.length]).to.deep.equal([200, size]);
  });

  it('clients reset streams and leave in each phase: requests upstream end, no file stays open', async () => {
    await start();
    const first = await client();
    expect(await statusOf(first)).to.equal(200);
    await gateway.stat('upstream_rq_active');
    const base = gateway.openFiles();
    for (const upstreamSends of ['', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n12345']) {
      for (const leave of ['reset', 'close'] as const) {
        let ended = 0;
        act = (socket) => {
          socket.write(upstreamSends);
          socket.on('close', () => ended++);
        };
        const leaving = await Promise.all(Array.from({ length: 10 }, frames));
        for (const each of leaving) for (const stream of [1, 3, 5]) each.send(requestFrame(stream, '/'));
        await until(async () => (await gateway.stat('upstream_rq_active')) === 30, 'all requests are upstream');
        for (const each of leaving) {
          if (leave === 'close') each.close();
          else for (const stream of [1, 3, 5]) each.send(frame(FRAME.rstStream, 0, stream, uint32(CODE.cancel)));
        }
        await until(() => ended === 30, `the upstream sees all of them end after ${leave}`);
        for (const each of leaving) each.close();
      }
    }
    act = (socket) => socket.write(OK);
    await until(() => gateway.openFiles() <= base, 'files are closed');
    expect(await statusOf(first)).to.equal(200);
  });

  it('a limit of 256 files: further connections are closed, the others are served, it recovers', async () => {
    await start({ openFiles: 256 });
    const kept = await Promise.all(Array.from({ length: 20 }, client));
    for (const each of kept) expect(await statusOf(each)).to.equal(200);
    const more = await Promise.all(Array.from({ length: 400 }, () => http2Client(gateway.port).catch(() => undefined)));
    closers.push(() => more.forEach((each) => each?.close()));
    const statuses = await Promise.all(more.map((each) => (each ? statusOf(each) : 0)));
    expect(statuses.filter((status) => status !== 0 && status !== 200)).to.deep.equal([]);
    expect(statuses.filter((status) => status === 0).length).to.be.greaterThan(200);
    for (const each of kept) expect(await statusOf(each)).to.equal(200);
    for (const each of more) each?.close();
    await until(async () => (await statusOf(await client())) === 200, 'new connections are served again');
    expect(gateway.process.child.exitCode).to.equal(null);
  });

  it('a heap of 96 MiB: 4,800 large requests hang, further ones are rejected with 503, it serves again when they leave', async () => {
    await start({ heapMb: 96 });
    act = (socket, head) => {
      if (head.includes('/good')) socket.write(OK);
    };
    const large = ['x-a', 'a'.repeat(8000)] as const;
    const hanging: FrameClient[] = [];
    for (let i = 0; i < 60; i++) {
      const each = await frames();
      hanging.push(each);
      for (let stream = 1; stream < 160; stream += 2) each.send(requestFrame(stream, '/hangs', large));
    }
    const heads = (): number =>
      hanging.flatMap((each) => each.frames.filter(({ type }) => type === FRAME.headers)).length;
    await until(() => heads() > 3000, 'requests are rejected');
    for (const each of hanging) each.close();
    expect(gateway.process.child.exitCode).to.equal(null);
    expect(gateway.memory().peak).to.be.lessThan(400 * MIB);
    const statuses = gateway.log().map(({ status }) => status);
    expect(statuses.filter((status) => status === 503).length).to.be.greaterThan(3000 / 2);
    await until(async () => (await statusOf(await client(), '/good')) === 200, 'requests are served again');
  });

  it('rapid resets end their connections, and cost others nothing', async () => {
    await start();
    const other = await client();
    let served = 0;
    const over = new AbortController();
    const meanwhile = (async () => {
      while (!over.signal.aborted) {
        expect(await statusOf(other)).to.equal(200);
        served++;
      }
    })();
    const codes: (number | undefined)[] = [];
    for (let round = 0; round < 20; round++) {
      const hostile = await frames();
      for (let stream = 1; stream < 20_000 && !hostile.socket.destroyed; stream += 2) {
        hostile.send(
          frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, stream, requestFields('/')),
          frame(FRAME.rstStream, 0, stream, uint32(CODE.cancel)),
        );
        if (stream % 200 === 1) await wait(0);
      }
      codes.push(await hostile.goaway());
      expect(hostile.socket.destroyed).to.equal(true);
    }
    over.abort();
    await meanwhile;
    // A client that still sends may not receive the last frame.
    expect(codes).to.include(CODE.calm);
    expect(codes.filter((code) => code !== CODE.calm && code !== undefined)).to.deep.equal([]);
    expect(served).to.be.greaterThan(20);
    await until(async () => (await gateway.stat('upstream_rq_active')) === 0, 'no request is left');
  });
});
