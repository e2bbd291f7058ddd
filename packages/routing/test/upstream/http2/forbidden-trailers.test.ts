import { expect } from 'chai';
import { closeAll, forEachHttp2Client } from '../../forward/harness.ts';
import { fields, FLAG, frame, FRAME, FrameClient, requestFields, requestFrame } from '../../listen/http2/frames.ts';
import { tunnelGateway } from '../../tunnel/gateway.ts';
import { data, frameUpstream, head, lastHead } from './frames.ts';

/** The end of a stream with this trailer. */
const trailer = (name: string): Buffer =>
  frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, 1, fields([name, 'x']));

async function clientOf(port: number): Promise<FrameClient> {
  const { port: own } = await tunnelGateway({ port, upstream: { spec: { useHttp2: true } } });
  return FrameClient.open(own);
}

forEachHttp2Client(() =>
  describe('trailers over HTTP/2 at both ends', () => {
    afterEach(closeAll);

    it('of a request are rejected if HTTP/2 forbids them', async () => {
      const { port, received } = await frameUpstream((socket, id) => socket.write(lastHead(id, ':status', '200')));
      const client = await clientOf(port);
      client.send(
        frame(FRAME.headers, FLAG.endHeaders, 1, requestFields('/')),
        frame(FRAME.data, 0, 1, Buffer.from('x')),
        trailer('http2-settings'),
      );
      expect(await client.status(1)).to.equal(400);
      expect(received.filter(({ payload }) => payload.includes('http2-settings'))).to.deep.equal([]);
      client.send(requestFrame(3, '/'));
      expect(await client.status(3)).to.equal(200);
    });

    it('of a response are rejected if HTTP/2 forbids them', async () => {
      const { port } = await frameUpstream((socket, id) =>
        socket.write(Buffer.concat([head(id, ':status', '200'), data(id, 'x'), lastHead(id, 'http2-settings', 'x')])),
      );
      const client = await clientOf(port);
      client.send(requestFrame(1, '/'));
      expect(await client.status(1)).to.equal(502);
    });

    it('keep names that are properties of objects', async () => {
      const names = ['constructor', '__proto__', 'tostring'];
      const { port } = await frameUpstream((socket, id) =>
        socket.write(
          Buffer.concat([
            head(id, ':status', '200'),
            data(id, 'x'),
            lastHead(id, ...names.flatMap((name) => [name, 'x'])),
          ]),
        ),
      );
      const client = await clientOf(port);
      client.send(requestFrame(1, '/'));
      const end = await client.until(({ type, flags }) => type === FRAME.headers && (flags & FLAG.endStream) !== 0);
      expect(end.fields).to.deep.equal(names.map((name) => [name, 'x']));
    });
  }),
);
