import { expect } from 'chai';
import { until, untilStill } from '../../../../test/parts/until.ts';
import { attackedGateway, type AttackedGateway } from './gateway.ts';
import { describeParsers, exchange, open, parseAnswer, serve } from '../listen/serving.ts';

const LIMITS = { headTimeoutMs: 1500, checkIntervalMs: 50, closeDelayMs: 50 };

describeParsers('slow clients', () => {
  describe('in the head', () => {
    let gateway: AttackedGateway;
    before(async () => {
      gateway = await attackedGateway({ limits: LIMITS });
    });
    after(() => gateway.close());

    it('closes 200 slowloris sockets with 408 while others are served', async () => {
      const clients = await Promise.all(Array.from({ length: 200 }, () => open(gateway.port)));
      const drip = setInterval(() => clients.forEach(({ socket }) => socket.writable && socket.write('X: 1\r\n')), 20);
      for (const { socket } of clients) socket.write('GET / HTTP/1.1\r\nHost: a\r\n');
      let closed = 0;
      for (const each of clients) void each.closed.then(() => closed++);
      let served = 0;
      while (closed < clients.length) {
        const good = await exchange(gateway.port, 'GET /good HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
        expect(good.statuses).to.deep.equal([200]);
        served++;
      }
      clearInterval(drip);
      expect(served).to.be.greaterThan(0);
      for (const { text } of clients) expect(parseAnswer(text(), true).statuses).to.deep.equal([408]);
      expect(gateway.received()).not.to.match(/GET \/ /);
    });

    it('closes a socket that sends nothing', async () => {
      const { statuses, json } = await exchange(gateway.port);
      expect(statuses).to.deep.equal([408]);
      expect(json.code).to.equal('ERR_ROUTING_REQUEST_TIMEOUT');
    });

    it('responds to an HTTP/0.9 line that nothing follows', async () => {
      const { statuses } = await exchange(gateway.port, 'GET /\r\n');
      expect(statuses).to.deep.equal([408]);
    });

    it('closes the second request of a connection that never ends', async () => {
      const first = 'GET /1 HTTP/1.1\r\nHost: a\r\n\r\n';
      const { statuses } = await exchange(gateway.port, first, 'GET /2 HTTP/1.1\r\n');
      expect(statuses).to.deep.equal([200, 408]);
    });
  });

  it('responds with 408 when the body is slower than the limit, and aborts the upstream request', async () => {
    const gateway = await attackedGateway({ limits: { ...LIMITS, requestTimeoutMs: 1500 } });
    const { answer, upstream } = await gateway.passes('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
    expect(answer.statuses).to.deep.equal([408]);
    expect(upstream).not.to.include('\r\n\r\nabcd');
    await gateway.close();
  });

  it('responds with 408 when a body stalls, 504 when the response does', async () => {
    const serving = await serve((req) => req.resume(), { limits: { ...LIMITS, streamIdleTimeoutMs: 200 } });
    const body = await exchange(serving.port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
    expect(body.statuses).to.deep.equal([408]);
    const answer = await exchange(serving.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(answer.statuses).to.deep.equal([504]);
    await serving.close();
  });

  it('closes a connection that is idle longer than its limit', async () => {
    const limits = { ...LIMITS, idleTimeoutMs: 100 };
    const serving = await serve((_req, res) => res.end('ok'), { limits });
    const { statuses } = await exchange(serving.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(statuses).to.deep.equal([200]);
    await serving.close();
  });

  it('stops writing to a client that does not read', async () => {
    let pending = 0;
    let ended: () => void;
    const over = new Promise<void>((resolve) => (ended = resolve));
    const serving = await serve((_req, res) => {
      const chunk = Buffer.alloc(65_536);
      const write = (): void => {
        while (res.write(chunk)) pending += chunk.length;
        pending += chunk.length;
        res.once('drain', write);
      };
      write();
      res.on('close', () => ended());
    });
    const client = await open(serving.port);
    client.socket.pause();
    client.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => pending > 0);
    await untilStill(() => pending);
    expect(pending).to.be.lessThan(32 * 1024 * 1024);
    client.socket.destroy();
    await over;
    await serving.close();
  });

  it('closes a connection at the end of its life, with the response under way', async () => {
    const limits = { ...LIMITS, maxConnectionDurationMs: 1000 };
    const serving = await serve((_req, res) => void setTimeout(() => res.end('late'), 900), { limits });
    const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    const { statuses } = await exchange(serving.port, get + get);
    expect(statuses[0]).to.equal(200);
    await serving.close();
  });

  it('announces the end of the life of a connection with its next response', async () => {
    const limits = { ...LIMITS, maxConnectionDurationMs: 100, drainTimeoutMs: 60_000 };
    const serving = await serve((_req, res) => res.end('ok'), { limits });
    const client = await open(serving.port);
    client.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await client.until('\r\n\r\nok')).to.match(/connection: keep-alive/i);
    const since = performance.now();
    await until(() => performance.now() - since > 200);
    client.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.closed;
    expect(client.text().split('\r\n\r\nok')[1]).to.match(/connection: close/i);
    await serving.close();
  });

  it('closes a connection without a request at the end of its life and of the drain time', async () => {
    const serving = await serve(() => {}, { limits: { ...LIMITS, maxConnectionDurationMs: 20, drainTimeoutMs: 50 } });
    const client = await open(serving.port);
    await client.closed;
    expect(client.text()).to.equal('');
    await serving.close();
  });

  it('closes a connection after the requests it is allowed', async () => {
    const serving = await serve((_req, res) => res.end('ok'), { limits: { ...LIMITS, maxRequestsPerConnection: 2 } });
    const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    const { statuses, text } = await exchange(serving.port, get, get + get);
    expect(statuses).to.deep.equal([200, 200]);
    expect(text).to.match(/connection: close/i);
    await serving.close();
  });

  it('closes connections above the limit immediately, and serves again below it', async () => {
    const serving = await serve((_req, res) => res.end('ok'), { limits: { headTimeoutMs: 10_000, maxConnections: 2 } });
    const kept = [await open(serving.port), await open(serving.port)];
    for (const { socket } of kept) socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    for (const { until } of kept) await until('\r\n\r\nok');
    const third = await exchange(serving.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(third.statuses).to.deep.equal([]);
    for (const { socket, closed } of kept) {
      socket.destroy();
      await closed;
    }
    let statuses: readonly number[] = [];
    while (statuses.length === 0) {
      const again = await exchange(serving.port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      statuses = again.statuses;
    }
    expect(statuses).to.deep.equal([200]);
    await serving.close();
  });
});
