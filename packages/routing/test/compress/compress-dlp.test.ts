import { gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import { once } from 'node:events';
import { expect } from 'chai';
import { compress, dlp } from '../../src/index.ts';
import { start, stopAll } from '../snapshots.ts';

describe("compress before dlp in a server of one's own", () => {
  afterEach(stopAll);

  it('compresses the masked response', async () => {
    const [first, second] = [compress({ contentLength: 30 }), dlp({ actions: [{ actionType: 'ALL_CREDIT_CARDS' }] })];
    const { port } = await start((req, res) =>
      first(req, res, () =>
        second(req, res, () => {
          res.setHeader('content-type', 'text/plain');
          res.end('card 4111 1111 1111 1111, and more text to compress');
        }),
      ),
    );
    const [res] = await once(
      request({ port, host: '127.0.0.1', headers: { 'accept-encoding': 'gzip' } }).end(),
      'response',
    );
    const chunks: Buffer[] = [];
    for await (const chunk of res) chunks.push(chunk as Buffer);
    expect(res.headers['content-encoding']).to.equal('gzip');
    const text = gunzipSync(Buffer.concat(chunks)).toString();
    expect(text).to.contain('and more text').and.not.contain('4111 1111');
  });
});
