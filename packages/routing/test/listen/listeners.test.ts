import { createServer, type AddressInfo, type Server } from 'node:net';
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { createContext, createLoggers, ownPorts, type Handler, type Listener } from '@edge-gateway/core';
import { until } from '../../../../test/parts/until.ts';
import { IDLE_GRACE_MS } from '../../src/listen/front.ts';
import { createListeners, type Listeners, type ListenersOptions } from '../../src/index.ts';
import { describeParsers, exchange, listenerOf, open, serve, snapshotOf } from './serving.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const KEPT_GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

async function occupy(): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

async function freePort(): Promise<number> {
  const { server, port } = await occupy();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describeParsers('createListeners', () => {
  let listeners: Listeners;
  afterEach(() => listeners.close());

  function create(more: Partial<ListenersOptions> = {}, handler?: Handler): Listeners {
    listeners = createListeners({
      router: { listener: (name) => handler ?? ((_req, res) => res.end(name)) },
      context: createContext(),
      host: '127.0.0.1',
      portOf: () => 0,
      ...more,
    });
    return listeners;
  }

  it('opens new listeners, closes removed ones, and keeps the others open', async () => {
    const [a, b, c] = [8081, 8082, 8083].map((bindPort) => listenerOf({ bindPort })) as [Listener, Listener, Listener];
    create();
    await listeners.apply(snapshotOf(a, b));
    const [atA, atB] = listeners.addresses();
    expect(atA!.name).to.equal(a.name);
    const kept = await open(atA!.port);
    const results = await listeners.apply(snapshotOf(a, c));
    expect(results.map(({ name, error }) => [name, error])).to.deep.equal([
      [a.name, undefined],
      [c.name, undefined],
    ]);
    expect(listeners.addresses()[0]).to.deep.equal(atA);
    expect((await exchange(atB!.port, GET)).text).to.equal('');
    expect([atA, atB].map((at) => ownPorts().has(at!.port))).to.deep.equal([true, false]);
    kept.socket.write(GET);
    await kept.closed;
    expect(kept.text()).to.include(a.name);
  });

  it('listens on the port of the resource, on every address for `::`', async () => {
    const bindPort = await freePort();
    create({ host: undefined, portOf: undefined });
    const [result] = await listeners.apply(snapshotOf(listenerOf({ bindPort, bindAddress: '::' })));
    expect(result!.error).to.equal(undefined);
    expect((await exchange(bindPort, GET)).statuses).to.deep.equal([200]);
  });

  it('reports a port in use, serves the other listeners, and opens the port at the next apply', async () => {
    const { server, port } = await occupy();
    create({ portOf: ({ bindPort }) => (bindPort === port ? port : 0) });
    const snapshot = snapshotOf(listenerOf({ bindPort: port }), listenerOf({ bindPort: 9000 }));
    const [failed, good] = await listeners.apply(snapshot);
    expect(failed!.error!.code).to.equal('ERR_ROUTING_LISTEN');
    expect(failed!.error!.message).to.equal(
      `cannot listen on 127.0.0.1 port ${port}: the port is in use by another program`,
    );
    expect((await exchange(good!.port!, GET)).statuses).to.deep.equal([200]);
    await new Promise((resolve) => server.close(resolve));
    const [again] = await listeners.apply(snapshot);
    expect(again!.error).to.equal(undefined);
    expect((await exchange(port, GET)).statuses).to.deep.equal([200]);
  });

  it('logs the same failure of a listener once', async () => {
    const lines: string[] = [];
    const log = createLoggers({ destination: { write: (line) => void lines.push(line) } });
    const failures = () => lines.filter((line) => line.includes('listener failed')).length;
    const taken = [await occupy(), await occupy()];
    let { port } = taken[0]!;
    create({ context: createContext({ log }), portOf: () => port });
    const snapshot = snapshotOf(listenerOf());
    for (let i = 0; i < 3; i++) await listeners.apply(snapshot);
    expect(failures()).to.equal(1);
    port = taken[1]!.port;
    await listeners.apply(snapshot);
    expect(failures(), 'with another reason').to.equal(2);
    await listeners.apply(snapshotOf());
    await listeners.apply(snapshot);
    expect(failures(), 'after it was removed').to.equal(3);
    for (const { server } of taken) server.close();
  });

  it('retries a failed listener', async () => {
    const { server, port } = await occupy();
    create({ portOf: () => port });
    await listeners.apply(snapshotOf(listenerOf()));
    expect(listeners.addresses()).to.deep.equal([]);
    await new Promise((resolve) => server.close(resolve));
    await until(() => listeners.addresses().length > 0);
    expect((await exchange(port, GET)).statuses).to.deep.equal([200]);
  });

  it('reports an address that this machine does not have', async () => {
    create({ host: undefined });
    const [result] = await listeners.apply(snapshotOf(listenerOf({ bindAddress: '192.0.2.1' })));
    expect(result!.error!.message).to.include('the address does not belong to this machine');
  });

  it('applies new settings to new connections only', async () => {
    create();
    const [{ port } = { port: 0 }] = await listeners.apply(snapshotOf(listenerOf()));
    const before = await open(port!);
    before.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await before.until('\r\n\r\n');
    const httpOptions = { httpConnectionManagerSettings: { maxHeadersCount: 1 } };
    await listeners.apply(snapshotOf(listenerOf({ httpOptions })));
    expect((await exchange(port!, GET)).statuses).to.deep.equal([431]);
    before.socket.write(GET);
    await before.closed;
    expect(before.text().match(/HTTP\/1\.1 200/g)).to.have.length(2);
  });

  it('counts connections and rejections', async () => {
    const context = createContext();
    create({ context });
    const [{ port } = { port: 0 }] = await listeners.apply(
      snapshotOf(listenerOf({ bindAddress: '::', bindPort: 8088 })),
    );
    await exchange(port!, GET);
    await exchange(port!, 'GET / HTTP/1.1\r\n\r\n');
    const value = (path: string): number => {
      const { stat } = context.metrics.list().find(({ name }) => name.path === path)!;
      return 'value' in stat ? stat.value : stat.count;
    };
    for (const prefix of ['listener.[__]_8088', 'http.http']) {
      expect(value(`${prefix}.downstream_cx_total`)).to.equal(2);
      expect(value(`${prefix}.downstream_cx_active`)).to.equal(0);
      expect(value(`${prefix}.downstream_cx_destroy`)).to.equal(2);
      expect(value(`${prefix}.downstream_cx_length_ms`)).to.equal(2);
    }
    expect(value('http.http.downstream_cx_rx_bytes_total')).to.equal(GET.length + 18);
    for (const prefix of ['http.http', 'listener.[__]_8088.http.http']) {
      expect(value(`${prefix}.downstream_rq_4xx`), prefix).to.equal(1);
      expect(value(`${prefix}.downstream_rq_completed`), prefix).to.equal(1);
    }
    expect(await context.metrics.registry.metrics()).to.include(
      'envoy_listener_downstream_cx_total{envoy_listener_address="[__]_8088"} 2',
    );
  });

  it('logs each rejected request once, with the reason and without its content', async () => {
    const lines: string[] = [];
    const log = createLoggers({ destination: { write: (line) => void lines.push(line) } });
    create({ context: createContext({ log }) });
    const [{ port } = { port: 0 }] = await listeners.apply(snapshotOf(listenerOf()));
    const secret = 'Authorization: Bearer hidden\r\n';
    const byCheck = await exchange(port!, `GET / HTTP/1.1\r\nHost: a\r\n${secret}${secret}\r\n`);
    const byParser = await exchange(port!, `GET / HTTP/1.1\r\nHost: a\r\n${secret}X : 1\r\n\r\n`);
    const refused = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'request rejected');
    expect(refused.map(({ errorCode: code, detail, requestId }) => ({ code, detail, requestId }))).to.deep.equal([
      { code: 'ERR_ROUTING_DUPLICATE_HEADER', detail: 'authorization', requestId: byCheck.json.requestId },
      { code: 'ERR_ROUTING_BAD_HEADER', detail: 'Invalid header token', requestId: byParser.json.requestId },
    ]);
    expect(lines.join('')).not.to.include('hidden');
  });

  it('survives a handler that throws, rejects, fails, passes on, or calls next twice', async () => {
    const wrongs: Record<string, Handler> = {
      '/throws': () => {
        throw new Error('internal detail');
      },
      '/rejects': (async () => {
        throw new Error('internal detail');
      }) as Handler,
      '/fails': (_req, _res, next) => next(new Error('internal detail')),
      '/twice': (_req, _res, next) => {
        next(new Error('internal detail'));
        next(new Error('again'));
        next();
      },
      '/late': (_req, res, next) => {
        res.end('fine');
        next(new Error('internal detail'));
      },
      '/passes': (_req, _res, next) => next(),
    };
    create({}, (req, res, next) => wrongs[req.url!]!(req, res, next));
    const [{ port } = { port: 0 }] = await listeners.apply(snapshotOf(listenerOf()));
    const statuses: Record<string, readonly number[]> = {};
    for (const path of Object.keys(wrongs)) {
      const answer = await exchange(port!, GET.replace('/', path));
      statuses[path] = answer.statuses;
      expect(answer.text).not.to.include('internal detail');
    }
    expect(statuses).to.deep.equal({
      '/throws': [500],
      '/rejects': [500],
      '/fails': [500],
      '/twice': [500],
      '/late': [200],
      '/passes': [404],
    });
  });
});

describeParsers('listeners with times that no timer of Node can wait for', () => {
  it('keep connections open and serve', async () => {
    const month = '1000h';
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', onWarning);
    const serving = await serve((_req, res) => res.end('served'), {
      listener: {
        httpOptions: {
          httpConnectionManagerSettings: {
            requestHeadersTimeout: month,
            requestTimeout: month,
            idleTimeout: month,
            streamIdleTimeout: month,
            delayedCloseTimeout: month,
            maxConnectionDuration: month,
          },
        },
      },
    });
    const client = await open(serving.port);
    client.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until('served');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(client.socket.destroyed).to.equal(false);
    expect(client.text()).not.to.match(/connection: close/i);
    client.socket.destroy();
    await serving.close();
    process.off('warning', onWarning);
    expect(warnings).to.deep.equal([]);
  });
});

/** Few enough that a slow machine has a moment in which none of them is connecting: the system resets connections that it has not handed over. */
const CLIENTS = 10;

describeParsers('drain', () => {
  it('responds to every request under load, rejects later connections, and closes every connection', async () => {
    const serving = await serve((_req, res) => void setTimeout(() => res.end('done'), 20));
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    let answered = 0;
    let failed = 0;
    const loading = new AbortController();
    const ask = (): Promise<void> =>
      new Promise((resolve) => {
        const req = request({ port: serving.port, host: '127.0.0.1', agent }, (res) => {
          res.resume().on('end', () => {
            if (res.statusCode === 200) answered++;
            resolve();
          });
        });
        req.on('error', (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ECONNREFUSED') failed++;
          loading.abort();
          resolve();
        });
        req.end();
      });
    const load = Array.from({ length: CLIENTS }, async () => {
      while (!loading.signal.aborted) await ask();
    });
    await until(() => answered >= 200);
    await serving.listeners.drain(60_000);
    await Promise.all(load);
    expect(failed).to.equal(0);
    expect(serving.listeners.addresses()).to.deep.equal([]);
    agent.destroy();
    await serving.close();
  });

  it('sends connection: close on responses in progress and closes idle connections before the limit', async () => {
    let begin = (_answer: () => void): void => {};
    const begun = new Promise<() => void>((resolve) => (begin = resolve));
    const serving = await serve((_req, res) => begin(() => res.end('late')));
    const idle = await open(serving.port);
    const busy = await open(serving.port);
    busy.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const answer = await begun;
    const drained = serving.listeners.drain(60_000);
    await idle.closed;
    answer();
    await busy.closed;
    expect(busy.text())
      .to.match(/connection: close/i)
      .and.to.include('late');
    await drained;
  });

  it('serves connections that the system established before the listener accepted them', async () => {
    const serving = await serve((_req, res) => res.end('served'));
    const exchanges = Array.from({ length: 30 }, () => exchange(serving.port, GET));
    // The clients connect in this turn of the event loop, and nothing is accepted in it.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const drained = serving.listeners.drain(60_000);
    const statuses = (await Promise.all(exchanges)).flatMap((each) => each.statuses);
    expect(statuses).to.deep.equal(Array(30).fill(200));
    await drained;
  });

  it('serves one more request after a response whose head did not announce the end of the connection', async () => {
    let begin = (_answer: () => void): void => {};
    const begun = new Promise<() => void>((resolve) => (begin = resolve));
    const serving = await serve((req, res) => {
      res.write('first ');
      if (req.url === '/slow') begin(() => res.end('last'));
      else res.end('another');
    });
    const client = await open(serving.port);
    client.socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    const answer = await begun;
    await client.until('first');
    const drained = serving.listeners.drain(60_000);
    answer();
    await client.until('last');
    client.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.closed;
    expect(client.text())
      .to.include('another')
      .and.to.match(/connection: close/i);
    await drained;
  });

  it('serves a request that is just arriving', async () => {
    const serving = await serve((_req, res) => res.end('served'));
    const client = await open(serving.port);
    client.socket.write('GET / HTTP/1.1\r\nHost');
    await exchange(serving.port, GET);
    const drained = serving.listeners.drain(60_000);
    client.socket.write(': a\r\n\r\n');
    await client.closed;
    expect(client.text())
      .to.match(/^HTTP\/1\.1 200/)
      .and.to.match(/connection: close/i);
    await drained;
  });

  it('serves the next request of a connection that is used, although it was idle', async () => {
    const serving = await serve((_req, res) => res.end('served'));
    const client = await open(serving.port);
    client.socket.write(KEPT_GET);
    await client.until('served');
    await wait(IDLE_GRACE_MS + 1);
    const drained = serving.listeners.drain(60_000);
    // Connections that are not used are closed meanwhile.
    await exchange(serving.port, '').catch(() => {});
    client.socket.write(KEPT_GET);
    await client.closed;
    expect(client.text().match(/HTTP\/1\.1 200/g)).to.have.length(2);
    expect(client.text()).to.match(/connection: close/i);
    await drained;
  });

  it('stops as soon as the clients of all connections have left', async () => {
    const serving = await serve((_req, res) => res.end('served'));
    const client = await open(serving.port);
    client.socket.write(KEPT_GET);
    await client.until('served');
    const timers = (): number => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
    const before = timers();
    const drained = serving.listeners.drain(600_000);
    client.socket.end();
    await Promise.all([drained, client.closed]);
    expect(timers()).to.be.at.most(before);
  });

  it('serves a request that arrived on an idle connection and was not read yet', async () => {
    const serving = await serve((_req, res) => res.end('served'));
    const client = await open(serving.port);
    client.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until('served');
    // Such a connection is closed at once.
    await wait(IDLE_GRACE_MS + 1);
    // Both in this turn of the event loop: nothing is read in between.
    client.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    // With so short a limit, the connection does not count as used.
    const drained = serving.listeners.drain(IDLE_GRACE_MS / 4);
    await client.closed;
    expect(client.text().match(/HTTP\/1\.1 200/g)).to.have.length(2);
    expect(client.text()).to.match(/connection: close/i);
    await drained;
  });

  it('closes remaining connections after the limit, upgraded sockets too', async () => {
    const handler: Handler = () => {};
    handler.upgrade = (_req, socket) => void socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    const serving = await serve(handler);
    const stuck = await open(serving.port);
    stuck.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const upgraded = await open(serving.port);
    upgraded.socket.write(
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    await upgraded.until('101');
    const drained = serving.listeners.drain(200);
    expect(upgraded.socket.destroyed).to.equal(false);
    await drained;
    await Promise.all([stuck.closed, upgraded.closed]);
  });

  it('completes the requests of a removed listener', async () => {
    let begin = (_answer: () => void): void => {};
    const begun = new Promise<() => void>((resolve) => (begin = resolve));
    const serving = await serve((_req, res) => begin(() => res.end('late')));
    const client = await open(serving.port);
    client.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const answer = await begun;
    await serving.listeners.apply(snapshotOf());
    expect((await exchange(serving.port, GET)).text).to.equal('');
    answer();
    await client.closed;
    expect(client.text()).to.include('late');
    await serving.close();
  });
});
