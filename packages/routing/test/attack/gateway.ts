import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createContext, type Context, type Listener } from '@edge-gateway/core';
import { createListeners, createRouter, type ListenLimits, type Listeners } from '../../src/index.ts';
import { exchange, parserLimits, type RawAnswer } from '../listen/serving.ts';
import { endpointOf, hostOf, routeOf, snapshotOf, upstreamOf } from '../snapshots.ts';

/** A gateway with one route, in front of an upstream whose received bytes are kept. */
export interface AttackedGateway {
  readonly port: number;
  readonly listeners: Listeners;
  /** All bytes that the upstream received since the last `forget`, over all connections. */
  received(): string;
  forget(): void;
  /** Expects this answer to these bytes, a closed connection, and that the upstream hears of nothing but a later good request. */
  refuses(bytes: string | readonly string[], status: number, code: string): Promise<RawAnswer>;
  /** Sends bytes and gives what the upstream got, with the answers. */
  passes(bytes: string | readonly string[]): Promise<{ answer: RawAnswer; upstream: string }>;
  close(): Promise<void>;
}

/** Starts upstream, router and listeners on free ports. */
export async function attackedGateway(
  options: { listener?: Partial<Listener>; limits?: Partial<ListenLimits>; context?: Context } = {},
): Promise<AttackedGateway> {
  const context = options.context ?? createContext();
  /** Bytes by connection: pipelined requests arrive over several at a time. */
  const streams: { bytes: string }[] = [];
  const received = (): string => streams.map(({ bytes }) => bytes).join('');
  const forget = (): void => {
    for (const stream of streams) stream.bytes = '';
  };
  const upstream = createServer({ maxHeaderSize: 131_072 }, (req, res) => {
    req.resume();
    if (req.complete) res.end('served');
    else req.on('end', () => res.end('served'));
  });
  upstream.on('connection', (socket) => {
    const stream = { bytes: '' };
    streams.push(stream);
    socket.on('data', (chunk) => (stream.bytes += chunk.toString('latin1')));
  });
  const upstreamPort = await listening(upstream);
  const router = createRouter({ context, accessLog: 'none' });
  const snapshot = snapshotOf([hostOf([routeOf()])], [upstreamOf([endpointOf(upstreamPort)])], options.listener);
  router.apply(snapshot);
  const limits = { ...parserLimits(), ...options.limits };
  const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0, limits });
  const [result] = await listeners.apply(snapshot);
  const port = result!.port!;
  let count = 0;

  async function refuses(raw: string | readonly string[], status: number, code: string): Promise<RawAnswer> {
    forget();
    const answer = await exchange(port, ...[raw].flat());
    expect(answer.statuses, answer.text).to.deep.equal([status]);
    expect(answer.text.toLowerCase()).to.include('connection: close');
    expect(answer.json.code).to.equal(code);
    expect(answer.json.requestId).to.match(/^[0-9a-f-]{36}$/);
    const path = `/good-${++count}`;
    const good = await exchange(port, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(good.statuses).to.deep.equal([200]);
    const bytes = received();
    expect(bytes.startsWith(`GET ${path} `), bytes).to.equal(true);
    expect(bytes.split(' HTTP/1.1\r\n')).to.have.length(2);
    return answer;
  }

  return {
    port,
    listeners,
    received,
    forget,
    refuses,
    async passes(raw) {
      forget();
      const answer = await exchange(port, ...[raw].flat());
      return { answer, upstream: received() };
    },
    async close() {
      await listeners.close();
      await router.close();
      upstream.closeAllConnections();
      await new Promise((resolve) => upstream.close(resolve));
    },
  };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
