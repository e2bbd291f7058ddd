import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { startGatewayBefore, type GatewayBefore, type GatewayBeforeOptions } from './gateway-before.ts';
import {
  askOnce,
  openClient,
  pourResponse,
  startRawUpstream,
  statusOf,
  type RawClient,
  type RawUpstream,
} from './raw-sockets.ts';

const MIB = 1024 * 1024;
const GET = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Returns the time that 99 of 100 stay below. */
function p99(took: readonly number[]): number {
  return took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)]!;
}

/** On a busy machine, requests that hang on purpose would exceed the usual 15 s. */
const PATIENT = { timeout: '300s' };

describe('clients that overload a gateway', () => {
  let upstream: RawUpstream;
  let gateway: GatewayBefore;
  const clients: RawClient[] = [];
  let act: (socket: Socket, head: string) => void = () => {};

  async function start(options: Omit<GatewayBeforeOptions, 'upstreamPort'> = {}): Promise<void> {
    act = (socket) => socket.write(OK);
    upstream = await startRawUpstream((socket, head) => act(socket, head));
    gateway = await startGatewayBefore({ upstreamPort: upstream.port, ...options });
    expect(statusOf(await askOnce(gateway.port, GET('/')))).to.equal(200);
  }
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    await gateway.close();
    await upstream.close();
  });

  /** Opens so many connections, a few at a time. */
  async function open(count: number): Promise<RawClient[]> {
    const opened: RawClient[] = [];
    while (opened.length < count)
      opened.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(50, count - opened.length) }, () => openClient(gateway.port)),
        )),
      );
    clients.push(...opened);
    return opened;
  }

  /** Sends requests one after the other until told to stop; returns the milliseconds that each took. */
  async function measure(isOver: () => boolean): Promise<number[]> {
    const took: number[] = [];
    while (!isOver()) {
      const from = performance.now();
      expect(statusOf(await askOnce(gateway.port, GET('/')))).to.equal(200);
      took.push(performance.now() - from);
      await wait(5);
    }
    return took;
  }

  it('2,000 clients send a byte of a head every 10 s: closed with 408 within 15 s, others are served as before', async () => {
    await start();
    let usual = 0;
    const before = await measure(() => usual++ === 300);
    const slow = await open(2000);
    const began = performance.now();
    const closedAfter: number[] = [];
    let answered = 0;
    for (const { socket } of slow) {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n');
      socket.once('data', (text: string) => (answered += text.startsWith('HTTP/1.1 408 ') ? 1 : 0));
      socket.once('close', () => closedAfter.push(performance.now() - began));
    }
    const drip = setInterval(() => slow.forEach(({ socket }) => socket.writable && socket.write('X')), 10_000);
    const meanwhile = await measure(() => closedAfter.length === slow.length);
    clearInterval(drip);
    expect(answered).to.equal(2000);
    expect(Math.max(...closedAfter)).to.be.lessThan(15_000);
    expect(p99(meanwhile)).to.be.lessThan(2 * p99(before) + 20);
  });

  it('500 clients hardly read responses of 100 MiB: memory stays bounded, the upstream has to wait', async () => {
    await start({ route: PATIENT });
    const size = 100 * MIB;
    let sent = 0;
    act = (socket, head) => {
      if (!head.includes('/big')) return void socket.write(OK);
      pourResponse(socket, size, (bytes) => (sent += bytes));
    };
    const base = gateway.memory().now;
    const slow = await open(500);
    const begun = { 200: 0, other: 0 };
    const first = new Map<unknown, number>();
    for (const { socket } of slow) {
      socket.write(GET('/big'));
      socket.once('data', (text: string) => {
        socket.pause();
        first.set(socket, text.length);
        begun[text.startsWith('HTTP/1.1 200 ') ? 200 : 'other']++;
      });
    }
    // Half a gigabyte and more flows into the buffers of the system first, which may take long on a busy machine.
    for (let last = -1; sent !== last || begun[200] + begun.other < 500;) {
      last = sent;
      await wait(500);
    }
    expect(begun).to.deep.equal({ 200: 500, other: 0 });
    expect(sent).to.be.lessThan(500 * 10 * MIB);
    expect(gateway.memory().peak - base).to.be.lessThan(400 * MIB);
    expect(statusOf(await askOnce(gateway.port, GET('/')))).to.equal(200);
    const [reader] = slow;
    let read = first.get(reader!.socket)!;
    reader!.socket.on('data', (text: string) => (read += text.length)).resume();
    // These buffers exceed what the system has for TCP (`tcp_mem`): it drops segments and sends them again after seconds.
    await until(() => read > size, 'one of them reads all', 100);
  });

  it('a limit of 256 files: further connections are closed, the others are served, it recovers', async () => {
    await start({ openFiles: 256 });
    const kept = await open(50);
    for (const each of kept) expect(statusOf(await each.ask(GET('/')))).to.equal(200);
    const more = await open(400);
    const statuses = await Promise.all(more.map(async (each) => statusOf(await each.ask(GET('/')))));
    const count = (status: number): number => statuses.filter((each) => each === status).length;
    expect(count(200) + count(0)).to.equal(400);
    expect([count(200) > 30, count(0) > 300]).to.deep.equal([true, true]);
    const again = await Promise.all(kept.map(async (each) => statusOf(await each.ask(GET('/')))));
    expect(again).to.deep.equal(Array(50).fill(200));
    const full = gateway.openFiles();
    for (const { socket } of more) socket.destroy();
    await until(() => gateway.openFiles() <= full - 40, 'files are closed');
    for (const each of await open(40)) expect(statusOf(await each.ask(GET('/')))).to.equal(200);
    expect(gateway.process.child.exitCode).to.equal(null);
  });

  it('a heap of 96 MiB: requests are rejected with 503 before it is full, and served again when clients leave', async () => {
    await start({ heapMb: 96, route: PATIENT });
    act = (socket, head) => {
      if (head.includes('/good')) socket.write(OK);
    };
    const counts = new Map<number, number>();
    const head = `GET /hangs HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(8000)}\r\n\r\n`;
    for (let i = 0; i < 80; i++) {
      for (const each of await open(50)) {
        void each.ask(head).then((message) => {
          counts.set(statusOf(message), (counts.get(statusOf(message)) ?? 0) + 1);
        });
      }
    }
    await until(() => (counts.get(503) ?? 0) > 100, 'requests are rejected');
    expect(gateway.process.child.exitCode).to.equal(null);
    expect(gateway.process.child.signalCode).to.equal(null);
    expect([...counts.keys()]).to.deep.equal([503]);
    expect(gateway.memory().peak).to.be.lessThan(400 * MIB);
    await until(() => gateway.log().some(({ status, flags }) => status === 503 && flags === 'OM'), 'they are logged');
    for (const { socket } of clients.splice(0)) socket.destroy();
    await until(async () => statusOf(await askOnce(gateway.port, GET('/good'))) === 200, 'requests are served again');
    let good = 0;
    for (let i = 0; i < 100; i++) if (statusOf(await askOnce(gateway.port, GET('/good'))) === 200) good++;
    expect(good).to.equal(100);
  });
});
