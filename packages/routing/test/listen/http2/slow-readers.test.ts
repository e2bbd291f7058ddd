import { connect } from 'node:net';
import { expect } from 'chai';
import type { Route } from '@edge-gateway/core';
import { until } from '../../forward/harness.ts';
import { directOf, hostOf } from '../../snapshots.ts';
import { serve, type Serving } from '../serving.ts';
import { CODE, FRAME, frame, FrameClient, requestFrame, uint32 } from './frames.ts';
import { http2Gateway, settings, type Http2Gateway, type Http2GatewayParts } from './gateway.ts';

const IDLE = settings({ streamIdleTimeout: '150ms' });
const LONG = 'x'.repeat(2000);
/** Settings with a window that lets no data through. */
const NO_WINDOW = frame(FRAME.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(0)]));

describe('an HTTP/2 client that receives nothing', () => {
  let gateway: Http2Gateway | undefined;
  let serving: Serving | undefined;
  afterEach(async () => {
    await gateway?.close();
    await serving?.close();
    gateway = serving = undefined;
  });

  /** Sends a request without a window, and resolves with the code of its reset and what was received of the response. */
  async function resetOf(port: number): Promise<readonly [status: number, reset: number]> {
    const client = await FrameClient.open(port);
    client.send(NO_WINDOW, requestFrame(1, '/'));
    const status = await client.status(1);
    const reset = await client.reset(1);
    expect(client.frames.some(({ type }) => type === FRAME.data)).to.equal(false);
    client.close();
    return [status, reset];
  }

  const start = async (parts: Http2GatewayParts): Promise<number> => (gateway = await http2Gateway(parts)).port;
  const forwards = (options: Route['options']): Http2GatewayParts => ({
    respond: (_req, res) => res.end(LONG),
    route: { options },
    listener: IDLE,
  });

  it('loses a complete response of a route without an idle timeout of its own', async () => {
    expect(await resetOf(await start(forwards({})))).to.deep.equal([200, CODE.internal]);
  });

  it('loses a complete response after the idle timeout of the route', async () => {
    const parts = forwards({ idleTimeout: '100ms' });
    expect(await resetOf(await start({ ...parts, listener: {} }))).to.deep.equal([200, CODE.internal]);
  });

  it('loses a complete response of a route that has no idle timeout after that of the listener', async () => {
    expect(await resetOf(await start(forwards({ idleTimeout: '0s' })))).to.deep.equal([200, CODE.internal]);
  });

  it('loses a direct response', async () => {
    const virtualHosts = [hostOf([directOf(LONG)])];
    expect(await resetOf(await start({ listener: { ...IDLE, virtualHosts } }))).to.deep.equal([200, CODE.internal]);
  });

  it('loses the error of a request that timed out', async () => {
    serving = await serve(() => {}, { listener: IDLE });
    expect(await resetOf(serving.port)).to.deep.equal([504, CODE.internal]);
  });

  it('loses the error of an invalid request', async () => {
    serving = await serve(() => {}, { listener: IDLE });
    const client = await FrameClient.open(serving.port);
    client.send(NO_WINDOW, requestFrame(1, '/', ['host', 'b']));
    expect(await client.status(1)).to.equal(400);
    expect(await client.reset(1)).to.equal(CODE.internal);
    client.close();
  });

  it('loses a stream of events, although more of them are written', async () => {
    let isClosed = false;
    serving = await serve(
      (_req, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        const timer = setInterval(() => res.write('data: x\n\n'), 20);
        res.on('close', () => {
          clearInterval(timer);
          isClosed = true;
        });
      },
      { listener: IDLE },
    );
    expect(await resetOf(serving.port)).to.deep.equal([200, CODE.internal]);
    await until(() => isClosed);
  });

  it('does not keep a response by sending more of its request', async () => {
    serving = await serve((_req, res) => res.end(LONG), { listener: IDLE });
    const client = await FrameClient.open(serving.port);
    const begin = requestFrame(1, '/');
    // Without the flag that ends the stream.
    begin[4] = begin[4]! & ~1;
    client.send(NO_WINDOW, begin);
    const timer = setInterval(() => client.send(frame(FRAME.data, 0, 1, Buffer.from('x'))), 20);
    expect(await client.status(1)).to.equal(200);
    await client.reset(1);
    clearInterval(timer);
    client.close();
  });
});

describe('an HTTP/2 client that receives slowly', () => {
  it('keeps a response while it receives parts of it', async () => {
    const serving = await serve((_req, res) => res.end(LONG), { listener: IDLE });
    const client = await FrameClient.open(serving.port);
    client.send(NO_WINDOW, requestFrame(1, '/'));
    await client.status(1);
    // More than two timeouts in all, and much less between two parts.
    const timer = setInterval(() => client.send(frame(FRAME.windowUpdate, 0, 1, uint32(100))), 20);
    await client.until(({ type, flags }) => type === FRAME.data && (flags & 1) !== 0);
    clearInterval(timer);
    const bytes = client.frames.reduce((sum, { type, payload }) => sum + (type === FRAME.data ? payload.length : 0), 0);
    expect(bytes).to.equal(LONG.length);
    expect(client.frames.some(({ type }) => type === FRAME.rstStream)).to.equal(false);
    client.close();
    await serving.close();
  });
});

describe('an HTTP/1.1 client that receives nothing', () => {
  it('loses the rest of a complete response after the idle timeout of its route', async () => {
    const body = Buffer.alloc(16 * 1024 * 1024);
    const gateway = await http2Gateway({
      respond: (_req, res) => res.end(body),
      route: { options: { idleTimeout: '150ms' } },
      upstream: { spec: { connectionConfig: { perConnectionBufferLimitBytes: 64 * 1024 * 1024 } } },
    });
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => {}).pause();
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    const active = gateway.context.metrics.list().find(({ name }) => name.path.endsWith('.downstream_cx_active'))!
      .name.path;
    await until(() => gateway.stat(active) === 1);
    await until(() => gateway.stat(active) === 0);
    socket.destroy();
    await gateway.close();
  });
});
