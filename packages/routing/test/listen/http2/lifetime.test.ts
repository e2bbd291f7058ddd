import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { until, untilStill } from '../../forward/harness.ts';
import { directOf, hostOf, routeOf } from '../../snapshots.ts';
import { serve } from '../serving.ts';
import { answerOf, http2Client } from './client.ts';
import { CODE, FLAG, FRAME, frame, FrameClient, requestFields, requestFrame } from './frames.ts';
import { http2Gateway, settings, type Http2Gateway, type Http2GatewayParts } from './gateway.ts';

/** The beginning of an upload that does not go on. */
const upload = (stream: number): Buffer =>
  Buffer.concat([
    frame(FRAME.headers, FLAG.endHeaders, stream, requestFields('/upload')),
    frame(FRAME.data, 0, stream, Buffer.from('part')),
  ]);

/** An upstream that holds its responses. */
function holding(): { respond: NonNullable<Http2GatewayParts['respond']>; next(): Promise<ServerResponse> } {
  const held: ServerResponse[] = [];
  let wake = (): void => {};
  return {
    respond(_req, res) {
      held.push(res);
      wake();
    },
    async next() {
      while (held.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return held.shift()!;
    },
  };
}

describe('the lifetime of HTTP/2 connections', () => {
  let gateway: Http2Gateway | undefined;
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });
  const start = async (parts?: Http2GatewayParts): Promise<Http2Gateway> => (gateway = await http2Gateway(parts));

  it('ends when the listener drains, after the requests in progress; GOAWAY names the last of them', async () => {
    const { respond, next } = holding();
    const { port, listeners } = await start({ respond });
    const frames = await FrameClient.open(port);
    frames.send(requestFrame(1, '/1'), requestFrame(3, '/2'));
    const [first, second] = [await next(), await next()];
    const drained = listeners.drain(30_000);
    // Another server announces it first with the largest number, and waits until the client knows.
    const goaway = await frames.until(({ type, payload }) => type === FRAME.goaway && payload.readUInt32BE(0) === 3);
    expect(goaway.payload.readUInt32BE(4)).to.equal(CODE.none);
    frames.send(requestFrame(5, '/not-served'));
    first.end('first');
    second.end('second');
    expect([await frames.status(1), await frames.status(3)]).to.deep.equal([200, 200]);
    await frames.closed;
    expect(frames.frames.some(({ stream, type }) => stream === 5 && type === FRAME.headers)).to.equal(false);
    await drained;
  });

  it('ends after its last response also if the client never ends its side', async () => {
    const { respond, next } = holding();
    const { port, listeners } = await start({ respond });
    const frames = await FrameClient.open(port, true);
    frames.send(requestFrame(1, '/'));
    const response = await next();
    const drained = listeners.drain(3_600_000);
    await frames.until(({ type }) => type === FRAME.goaway);
    response.end('late');
    expect(await frames.status(1)).to.equal(200);
    await drained;
  });

  it('goes on for a request that arrives soon after the listener drains', async () => {
    const { port, listeners } = await start();
    const frames = await FrameClient.open(port);
    frames.send(requestFrame(1, '/'));
    await frames.status(1);
    const drained = listeners.drain(30_000);
    frames.send(requestFrame(3, '/'));
    expect(await frames.status(3)).to.equal(200);
    await Promise.all([frames.closed, drained]);
  });

  it('ends soon when the listener drains and there is no request', async () => {
    const { client, listeners } = await start();
    const { ask, closed } = await client();
    await ask('/');
    await Promise.all([listeners.drain(30_000), closed]);
  });

  it('ends with the drain time although a request is in progress', async () => {
    const { respond, next } = holding();
    const { client, listeners } = await start({ respond });
    const { open, closed } = await client();
    const stream = open('/');
    stream.end();
    await next();
    await listeners.drain(100);
    await closed;
    expect(stream.destroyed).to.equal(true);
  });

  it('ends after idleTimeout without a request, counted from the end of the last one', async () => {
    const { respond, next } = holding();
    const idleMs = 100;
    const { port } = await start({ respond, listener: settings({ idleTimeout: `${idleMs}ms` }) });
    const openedAt = performance.now();
    const frames = await FrameClient.open(port);
    frames.send(requestFrame(1, '/'));
    const response = await next();
    await until(() => performance.now() - openedAt > 1.5 * idleMs, 'the idle timeout, during a request');
    const endedAt = performance.now();
    response.end('done');
    expect(await frames.status(1)).to.equal(200);
    expect(await frames.goaway()).to.equal(CODE.none);
    expect(performance.now() - endedAt).to.be.at.least(idleMs);
  });

  it('ends at maxConnectionDuration, after the request in progress', async () => {
    const { respond, next } = holding();
    const { port } = await start({ respond, listener: settings({ maxConnectionDuration: '1s' }) });
    const frames = await FrameClient.open(port);
    frames.send(requestFrame(1, '/'));
    const response = await next();
    await frames.until(({ type }) => type === FRAME.goaway);
    response.end('done');
    expect(await frames.status(1)).to.equal(200);
    expect(await frames.goaway()).to.equal(CODE.none);
  });

  it('ends after maxRequestsPerConnection, and later requests are not served', async () => {
    let requests = 0;
    const { port } = await start({
      respond: (_req, res) => {
        requests++;
        res.end();
      },
      listener: settings({ maxRequestsPerConnection: 2 }),
    });
    const frames = await FrameClient.open(port);
    frames.send(requestFrame(1, '/'), requestFrame(3, '/'), requestFrame(5, '/'), requestFrame(7, '/'));
    expect([await frames.status(1), await frames.status(3)]).to.deep.equal([200, 200]);
    await frames.closed;
    const answered = frames.frames.filter(({ type }) => type === FRAME.headers).map(({ stream }) => stream);
    expect(answered.toSorted()).to.deep.equal([1, 3]);
    expect(requests).to.equal(2);
  });

  it('ends if no request arrives in time', async () => {
    const { port } = await start({ listener: settings({ requestHeadersTimeout: '0.2s' }) });
    const frames = await FrameClient.open(port);
    expect(await frames.goaway()).to.equal(CODE.none);
  });

  it('limits the pauses of an upload with 408, and of a response with a reset', async () => {
    const { port } = await start({
      respond: (req, res) => {
        if (req.url === '/response') res.write('part');
      },
      listener: settings({ streamIdleTimeout: '1s' }),
    });
    const frames = await FrameClient.open(port);
    frames.send(upload(1), requestFrame(3, '/response'), requestFrame(5, '/waiting'));
    expect(await frames.status(1)).to.equal(408);
    expect(await frames.reset(1)).to.equal(CODE.none);
    expect(await frames.status(3)).to.equal(200);
    expect(await frames.reset(3)).to.equal(CODE.internal);
    expect(await frames.status(5)).to.equal(504);
    frames.close();
  });

  it('limits the time of a request with 408', async () => {
    const { port } = await start({ respond: () => {}, listener: settings({ requestTimeout: '0.2s' }) });
    const frames = await FrameClient.open(port);
    frames.send(upload(1));
    expect(await frames.status(1)).to.equal(408);
    frames.close();
  });

  it('limits the duration of a stream', async () => {
    const { port } = await start({
      respond: (_req, res) => void res.write('part'),
      listener: settings({ maxStreamDuration: '1s' }),
    });
    const frames = await FrameClient.open(port);
    frames.send(requestFrame(1, '/'));
    expect(await frames.reset(1)).to.equal(CODE.internal);
    frames.close();
  });

  it('goes on over changes of the configuration', async () => {
    const { client, apply, port } = await start({ respond: (_req, res) => res.end('old') });
    const { ask, session } = await client();
    expect((await ask('/')).body).to.equal('old');
    await apply({ virtualHosts: [hostOf([directOf('new')])] });
    expect((await ask('/')).body).to.equal('new');
    // Other settings apply to new connections; this one stays open.
    await apply({ virtualHosts: [hostOf([routeOf()])], ...settings({ maxRequestsPerConnection: 1 }) });
    expect((await ask('/')).body).to.equal('old');
    expect((await ask('/')).body).to.equal('old');
    expect(session.closed).to.equal(false);
    const frames = await FrameClient.open(port);
    frames.send(requestFrame(1, '/'));
    expect(await frames.goaway()).to.equal(CODE.none);
  });

  it('loses no request to changes of the configuration', async () => {
    const { client, apply } = await start({ respond: (_req, res) => res.end('ok') });
    const { ask } = await client();
    for (let i = 0; i < 10; i++) {
      const asked = Array.from({ length: 20 }, () => ask('/'));
      await apply(settings({ maxHeadersCount: 50 + i }));
      expect((await Promise.all(asked)).every(({ status }) => status === 200)).to.equal(true);
    }
  });

  it('stops reading a response for a client that does not read it', async () => {
    const chunk = Buffer.alloc(65_536);
    let written = 0;
    const { client } = await start({
      respond: (_req, res) => {
        const more = (): void => {
          while (written < 500 * chunk.length) {
            written += chunk.length;
            if (!res.write(chunk)) return void res.once('drain', more);
          }
          res.end();
        };
        more();
      },
    });
    const { open } = await client();
    const stream = open('/');
    const asked = answerOf(stream.end());
    stream.pause();
    await until(() => written > 0);
    await untilStill(() => written);
    expect(written).to.be.lessThan(300 * chunk.length);
    stream.resume();
    const answer = await asked;
    expect(answer.body.length).to.equal(500 * chunk.length);
  });

  it('stops reading an upload for an upstream that does not read it', async () => {
    const window = 65_535;
    const resume = Promise.withResolvers<() => void>();
    const { client } = await start({
      respond: (req, res) => {
        let bytes = 0;
        req.pause();
        resume.resolve(() => {
          req
            .resume()
            .on('data', (chunk: Buffer) => (bytes += chunk.length))
            .on('end', () => res.end(String(bytes)));
        });
      },
      listener: settings({
        http2ProtocolOptions: { initialStreamWindowSize: window, initialConnectionWindowSize: window },
      }),
    });
    const { open } = await client();
    const body = Buffer.alloc(32 * 1024 * 1024);
    const stream = open('/', { ':method': 'POST' });
    stream.write(body);
    const goOn = await resume.promise;
    expect(stream.writableNeedDrain).to.equal(true);
    stream.end();
    goOn();
    expect((await answerOf(stream)).body).to.equal(String(body.length));
  });

  it('grants no more than its window for what nobody reads yet, over all streams', async () => {
    const window = 65_535;
    const requests: IncomingMessage[] = [];
    const serving = await serve(
      (req, res) => {
        requests.push(req);
        req.once('end', () => res.end());
      },
      { limits: { initialStreamWindowBytes: window, initialConnectionWindowBytes: window } },
    );
    const { open, session, close } = await http2Client(serving.port);
    const answers = Array.from({ length: 20 }, () =>
      answerOf(open('/', { ':method': 'POST' }).end(Buffer.alloc(50_000))),
    );
    await until(() => requests.length === 20 && session.state.remoteWindowSize === 0);
    for (const req of requests) req.resume();
    expect((await Promise.all(answers)).map(({ status }) => status)).to.deep.equal(Array(20).fill(200));
    close();
    await serving.close();
  });

  it('grants its window again for streams that are reset unread', async () => {
    const window = 65_535;
    let received = 0;
    let isReading = false;
    const limits = { initialStreamWindowBytes: window, initialConnectionWindowBytes: window };
    const serving = await serve(
      (req, res) => {
        received++;
        if (isReading) req.resume().once('end', () => res.end());
      },
      { limits },
    );
    const { open, session, close } = await http2Client(serving.port);
    for (let i = 1; i <= 5; i++) {
      const stream = open('/', { ':method': 'POST' });
      stream.write(Buffer.alloc(40_000));
      await until(() => received === i);
      stream.close(CODE.cancel);
      await once(stream, 'close');
    }
    isReading = true;
    const { status } = await answerOf(open('/', { ':method': 'POST' }).end(Buffer.alloc(500_000)));
    expect(status).to.equal(200);
    expect(session.destroyed).to.equal(false);
    close();
    await serving.close();
  });

  it('grants no byte twice to a handler that destroys its request while data waits', async () => {
    const window = 65_535;
    const requests: IncomingMessage[] = [];
    const serving = await serve((req) => void requests.push(req), {
      limits: { initialStreamWindowBytes: window, initialConnectionWindowBytes: window },
    });
    const frames = await FrameClient.open(serving.port);
    frames.send(frame(FRAME.headers, FLAG.endHeaders, 1, requestFields('/')));
    const pings = (): number => frames.frames.filter(({ type }) => type === FRAME.ping).length;
    const ping = async (): Promise<void> => {
      const before = pings();
      frames.send(frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
      await until(() => pings() > before, 'an acknowledged ping');
    };
    for (let i = 0; i < 4; i++) {
      frames.send(frame(FRAME.data, 0, 1, Buffer.alloc(15_000)));
      await ping();
    }
    const [req] = requests;
    req!.once('data', () => req!.destroy()).on('error', () => {});
    await frames.reset(1);
    const granted = (): number =>
      frames.frames
        .filter(({ type, stream }) => type === FRAME.windowUpdate && stream === 0)
        .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0);
    await until(() => granted() > 0);
    await ping();
    expect(granted()).to.be.at.most(60_000);
    frames.close();
    await serving.close();
  });

  it('allows as many streams as configured', async () => {
    const { client } = await start({ listener: settings({ http2ProtocolOptions: { maxConcurrentStreams: 7 } }) });
    const { session, ask } = await client();
    await ask('/');
    expect(session.remoteSettings.maxConcurrentStreams).to.equal(7);
    expect(session.remoteSettings.initialWindowSize).to.equal(16 * 1024 * 1024);
    expect(session.remoteSettings.enablePush).to.not.equal(true);
  });

  it('ends when the client closes it', async () => {
    const { port, stat } = await start();
    const frames = await FrameClient.open(port);
    frames.send(requestFrame(1, '/'));
    await frames.status(1);
    frames.socket.end();
    await frames.closed;
    await until(() => stat('http.http.downstream_cx_active') === 0);
  });
});
