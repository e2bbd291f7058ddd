import { connect } from 'node:net';
import { expect } from 'chai';
import { closeAll, forEachHttp2Client, until } from '../../forward/harness.ts';
import { FLAG, FRAME } from '../../listen/http2/frames.ts';
import { frameUpstream } from './frames.ts';
import { http2Gateway } from './servers.ts';

const CANCEL = 8;

forEachHttp2Client(() =>
  describe('a partial upload over HTTP/2', () => {
    afterEach(closeAll);

    for (const [framing, request] of [
      ['a length', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\npart'],
      ['chunks', 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n'],
    ] as const) {
      it(`with ${framing} is reset, and never ended, if the client disconnects`, async () => {
        const { port, received } = await frameUpstream(() => {});
        const gw = await http2Gateway(port);
        const client = connect(gw.port, '127.0.0.1');
        client.write(request);
        await until(() => received.some(({ type }) => type === FRAME.data), 'data of the upload');
        client.destroy();
        await until(() => received.some(({ type }) => type === FRAME.rstStream), 'the reset');
        const frames = received.filter(({ id }) => id === 1);
        expect(frames.map(({ type }) => type)).to.deep.equal([FRAME.headers, FRAME.data, FRAME.rstStream]);
        expect(frames.filter(({ flags }) => (flags & FLAG.endStream) !== 0)).to.deep.equal([]);
        expect(String(frames[1]!.payload)).to.equal('part');
        expect(frames[2]!.payload.readUInt32BE(0)).to.equal(CANCEL);
      });
    }
  }),
);
