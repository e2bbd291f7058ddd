import { once } from 'node:events';
import { request, type IncomingMessage, type RequestListener } from 'node:http';
import { expect } from 'chai';
import { until } from '../../forward/harness.ts';
import { FRAME, frame, FrameClient, requestFrame, uint32 } from './frames.ts';
import { http2Gateway, type Http2Gateway } from './gateway.ts';

const MB = 1024 * 1024;
/** More than the buffers of a connection take. */
const UNREAD_BYTES = 16 * MB;
/** Less than the parts in which a response is written, so that most of them are sent in several frames. */
const STEP = 30_000;

describe('the memory of a response that is not sent completely over HTTP/2', () => {
  let gateway: Http2Gateway | undefined;
  afterEach(() => gateway?.close());

  it('is not used for other responses while a part of it is still being sent', async () => {
    const open = new Set<string>();
    /** Responds with one letter, the last one of the path, without end. */
    const respond: RequestListener = (req, res) => {
      const chunk = Buffer.alloc(64 * 1024, req.url!.at(-1));
      const write = (): void => {
        while (!res.destroyed && res.write(chunk));
      };
      open.add(req.url!);
      res.on('drain', write).on('close', () => open.delete(req.url!));
      write();
    };
    gateway = await http2Gateway({ respond, route: { options: { timeout: '3s' } } });
    const { port } = gateway;

    const clients = await Promise.all(Array.from({ length: 6 }, () => FrameClient.open(port)));
    for (const [i, client] of clients.entries()) {
      client.send(requestFrame(1, `/${i}/a`));
      await client.status(1);
      client.socket.pause();
    }
    // The window grows in small steps, until the connection takes no more: then a part of a part is being sent.
    const growth = Buffer.concat([0, 1].map((id) => frame(FRAME.windowUpdate, 0, id, uint32(STEP))));
    for (let granted = 0; granted < UNREAD_BYTES; granted += STEP) {
      for (const client of clients) client.send(growth);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => open.size === 0, 'the timeout of the responses');

    // Others are received in the memory that is free now, and wait there: their clients do not read them.
    const others: IncomingMessage[] = [];
    for (let i = 0; i < 24; i++) {
      const req = request({ port, host: '127.0.0.1', path: `/${i}/b`, agent: false }).end();
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      res.on('error', () => {});
      others.push(res);
    }
    for (const client of clients) {
      client.socket.resume();
      client.send(frame(FRAME.ping, 0, 0, Buffer.alloc(8, 'p')));
      await client.until(({ type, flags }) => type === FRAME.ping && flags === 1);
    }
    for (const res of others) res.destroy();
    const foreign = clients.map(({ frames }) =>
      frames.filter(({ type, payload }) => type === FRAME.data && !payload.equals(Buffer.alloc(payload.length, 'a'))),
    );
    expect(foreign.map(({ length }) => length)).to.deep.equal(clients.map(() => 0));
    for (const client of clients) client.close();
  });
});
