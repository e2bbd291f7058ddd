import { expect } from 'chai';
import { request } from 'node:http';
import { createServer as createTlsServer } from 'node:tls';
import { createServer, type Server, type Socket } from 'node:net';
import { createContext, type SnapshotUpstream } from '@edge-gateway/core';
import { createUpstreamCaller } from '../../src/upstream/call.ts';
import { closeAll, gateway, listen, snapshotOf, until, whenDone, type Gateway } from '../forward/harness.ts';
import { certificatePath, certificates, secretsOf } from './certificates.ts';

const ROUNDS = 40;
const AT_ONCE = 40;

type Random = (below: number) => number;

/** The same numbers in every run. */
function createRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A TLS connection cannot be reset. */
const reset = (socket: Socket): unknown => ('encrypted' in socket ? socket.destroy() : socket.resetAndDestroy());

/** What an upstream does with a request: each answer says whose it is, so that one that goes astray is seen. */
const BEHAVIOURS: readonly ((socket: Socket, id: string, isHead: boolean) => void)[] = [
  (socket, id) => socket.write(`HTTP/1.1 200 OK\r\nx-id: ${id}\r\ncontent-length: ${id.length}\r\n\r\n${id}`),
  (socket, id) => socket.write(`HTTP/1.1 200 OK\r\nx-id: ${id}\r\ncontent-length: ${id.length}\r\n\r\n${id}`),
  (socket, id) => {
    socket.write(
      `HTTP/1.1 200 OK\r\nx-id: ${id}\r\ntransfer-encoding: chunked\r\n\r\n${id.length.toString(16)}\r\n${id}\r\n`,
    );
    setTimeout(() => socket.write('0\r\n\r\n'), 2);
  },
  (socket, id) => socket.end(`HTTP/1.0 200 OK\r\nx-id: ${id}\r\n\r\n${id}`),
  (socket, id, isHead) => {
    const body = id.padEnd(300_000, 'x');
    socket.write(`HTTP/1.1 200 OK\r\nx-id: ${id}\r\ncontent-length: ${body.length}\r\n\r\n`);
    // After HEAD a late body would be read as that of the next response: no client can tell.
    if (!isHead) setTimeout(() => socket.write(body), 1);
  },
  (socket, id) =>
    socket.write(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nx-id: ${id}\r\ncontent-length: 9\r\n\r\n${id}`),
  (socket, id) => socket.end(`HTTP/1.1 200 OK\r\nx-id: ${id}\r\ncontent-length: 90\r\n\r\n${id}`),
  (socket, id) => {
    socket.write(`HTTP/1.1 200 OK\r\nx-id: ${id}\r\ncontent-length: ${id.length}\r\n\r\n${id}`);
    reset(socket);
  },
  (socket) => socket.destroy(),
  reset,
  (socket) => socket.end(),
  (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  (socket) => socket.write('garbage\r\n\r\n'),
  () => {},
];

/** Answers in any of those ways, and sometimes does not even take the connection. */
async function disorderlyUpstream(random: Random, tls: boolean): Promise<number> {
  const sockets = new Set<Socket>();
  const onSocket = (socket: Socket): void => {
    socket.on('error', () => {});
    if (random(20) === 0) return void socket.destroy();
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const isHead = text.slice(0, end).includes('HEAD /');
        const id = /\r\nx-id: (\d+)\r\n/.exec(text.slice(0, end + 2))?.[1];
        text = text.slice(end + 4);
        if (id === undefined) continue;
        const behaviour = BEHAVIOURS[random(BEHAVIOURS.length)]!;
        setTimeout(() => behaviour(socket, id, isHead), random(4));
      }
    });
  };
  const server: Server = tls ? createTlsServer(certificates().server, onSocket) : createServer(onSocket);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    if (tls && random(10) === 0) setTimeout(() => socket.destroy(), 1);
  });
  server.on('tlsClientError', () => {});
  whenDone(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return listen(server);
}

/** Sends one request that may leave at any time, and checks that what comes of its answer is its own. */
function visit(gw: Gateway, id: string, random: Random): Promise<void> {
  return new Promise((resolve, reject) => {
    const method = ['GET', 'GET', 'HEAD', 'POST', 'PUT'][random(5)]!;
    let theirs: unknown;
    let text = '';
    const client = request(gw.url, { method, agent: false, headers: { 'x-id': id } }, (res) => {
      theirs = res.headers['x-id'];
      res.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
      // The request may not have ended: then nothing closes by itself.
      res.on('error', () => {}).on('end', () => client.destroy());
      if (random(8) === 0) setTimeout(() => client.destroy(), random(5));
      if (random(8) > 0) return;
      res.pause();
      setTimeout(() => res.resume(), 5);
    });
    client
      .on('error', () => {})
      .on('close', () => {
        const astray = theirs !== undefined && (theirs !== id || !id.startsWith(text.slice(0, id.length)));
        if (astray) reject(new Error(`${id} got the answer ${String(theirs)} ${text.slice(0, 50)}`));
        else resolve();
      });
    if (method[0] === 'P') client.write('x'.repeat(random(30_000) + 1));
    if (method[0] !== 'P' || random(4) > 0) client.end();
    if (random(3) === 0) setTimeout(() => client.destroy(), random(12));
  });
}

function upstreamOf(port: number, random: Random, tls: boolean): SnapshotUpstream {
  const spec = {
    connectionConfig: {
      connectTimeout: ['0.003s', '0.02s', '5s'][random(3)],
      maxRequestsPerConnection: random(4),
      commonHttpProtocolOptions: { idleTimeout: ['0.002s', '1s'][random(2)] },
    },
    circuitBreakers: { maxConnections: 1 + random(3), maxPendingRequests: [1, 5, 100][random(3)] },
    ...(tls && { sslConfig: { sni: 'localhost', sslFiles: { rootCa: certificatePath('ca.crt') } } }),
  };
  return snapshotOf(port, { tls, spec } as Partial<SnapshotUpstream>);
}

describe('connections in disorder', () => {
  afterEach(closeAll);

  for (const [name, tls] of [
    ['plain', false],
    ['TLS', true],
  ] as const) {
    it(`all end, and no response is mixed up (${name})`, async () => {
      const random = createRandom(tls ? 7 : 3);
      const port = await disorderlyUpstream(random, tls);
      const context = createContext({ secrets: secretsOf({}) });
      const gw = await gateway({
        upstream: upstreamOf(port, random, tls),
        context,
        head: () => ({ timeoutMs: 5 + random(60) }),
      });
      const call = createUpstreamCaller(gw.upstreams);
      let visits = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const done = Array.from({ length: AT_ONCE }, () => visit(gw, String(100_000_000 + visits++), random));
        const calls = Array.from({ length: 10 }, () => {
          const id = String(100_000_000 + visits++);
          const signal = random(3) === 0 ? AbortSignal.timeout(random(10)) : undefined;
          const options = { timeoutMs: 5 + random(40), maxBodyBytes: 1000, signal };
          return call(
            { name: 'echo', namespace: 'gw-system' },
            { method: 'GET', path: '/', headers: ['x-id', id], ...options },
          ).then(
            (answer) => expect([answer.headers['x-id'], String(answer.body)]).to.deep.equal([id, id]),
            () => {},
          );
        });
        if (random(2) === 0) setTimeout(() => gw.upstreams.apply([upstreamOf(port, random, tls)]), random(10));
        await Promise.all([...done, ...calls]);
      }
      await until(() => gw.stat('upstream_rq_active') === 0, 'no request is under way');
      expect(gw.stat('upstream_rq_pending_active')).to.equal(0);
      expect(gw.stat('upstream_rq_completed')).to.equal(gw.stat('upstream_rq_total'));
      await gw.upstreams.close();
      expect([gw.stat('upstream_cx_active'), gw.stat('upstream_cx_total')]).to.deep.equal([
        0,
        gw.stat('upstream_cx_destroy'),
      ]);
    });
  }
});
