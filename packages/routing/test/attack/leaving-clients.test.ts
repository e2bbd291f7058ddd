import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { createContext } from '@edge-gateway/core';
import { createListeners, createRouter, type Listeners, type Router } from '../../src/index.ts';
import { describeParsers, open, parserLimits } from '../listen/serving.ts';
import { endpointOf, hostOf, routeOf, snapshotOf, upstreamOf } from '../snapshots.ts';
import { until } from '../../../../test/parts/until.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n';

describeParsers('clients that leave', () => {
  const context = createContext();
  let upstream: Server;
  let listeners: Listeners;
  let router: Router;
  let port: number;
  const upstreamSees: { begun: number; aborted: number; answer: 'nothing' | 'head' | 'body' } = {
    begun: 0,
    aborted: 0,
    answer: 'nothing',
  };
  const sockets = new Set<Socket>();

  before(async () => {
    upstream = createServer((req, res) => {
      upstreamSees.begun++;
      req.resume().on('error', () => {});
      res.on('close', () => {
        if (!res.writableFinished) upstreamSees.aborted++;
      });
      if (upstreamSees.answer === 'head') res.flushHeaders();
      if (upstreamSees.answer === 'body') res.write('x'.repeat(1_000));
    });
    upstream.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const endpoint = endpointOf((upstream.address() as AddressInfo).port);
    const snapshot = snapshotOf([hostOf([routeOf()])], [upstreamOf([endpoint])]);
    router = createRouter({ context, accessLog: 'none' });
    router.apply(snapshot);
    listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0, limits: parserLimits() });
    const [result] = await listeners.apply(snapshot);
    port = result!.port!;
  });
  after(async () => {
    await listeners.close();
    await router.close();
    upstream.closeAllConnections();
    upstream.close();
  });

  const active = (): number => {
    const { stat } = context.metrics.list().find(({ name }) => name.path === 'http.http.downstream_cx_active')!;
    return (stat as { value: number }).value;
  };

  const phases = [
    ['before the head', '', 'nothing', 0],
    ['in the head', 'GET / HTTP/1.1\r\nHo', 'nothing', 0],
    ['in the body', `${POST}abc`, 'nothing', 1],
    ['in a chunked body', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc', 'nothing', 1],
    ['while it waits for an answer', GET, 'nothing', 1],
    ['behind the response head', GET, 'head', 1],
    ['in the response body', GET, 'body', 1],
  ] as const;

  for (const leave of ['resets', 'closes'] as const) {
    for (const [name, bytes, answer, begun] of phases) {
      it(`releases everything when a client ${leave} the connection ${name}`, async () => {
        Object.assign(upstreamSees, { begun: 0, aborted: 0, answer });
        const clients = await Promise.all(Array.from({ length: 5 }, () => open(port)));
        for (const { socket } of clients) socket.write(bytes === '' ? '\r\n' : bytes);
        await until(() => upstreamSees.begun === 5 * begun);
        if (answer !== 'nothing') await Promise.all(clients.map((client) => client.until('HTTP/1.1 200')));
        if (answer === 'body') await Promise.all(clients.map((client) => client.until('xxx')));
        for (const { socket } of clients) {
          if (leave === 'resets') socket.resetAndDestroy();
          else socket.destroy();
        }
        await until(() => upstreamSees.aborted === 5 * begun && active() === 0);
        if (begun > 0) await until(() => sockets.size === 0);
        expect(upstreamSees.begun).to.equal(5 * begun);
      });
    }
  }

  it('releases an idle connection when the client disconnects', async () => {
    const client = await open(port);
    await until(() => active() === 1);
    client.socket.destroy();
    await until(() => active() === 0);
    expect(listeners.addresses()).to.have.length(1);
  });
});
