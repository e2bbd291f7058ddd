import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { brotliDecompressSync, gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import type { Gzip } from '@edge-gateway/core/schema';
import { chooseEncoding } from '../../src/compress/accept-encoding.ts';
import { compressorsOf } from '../../src/compress/encoding.ts';
import { served, type Served } from '../served.ts';
import { directOf, endpointOf, start, upstreamOf } from '../snapshots.ts';

const TEXT = 'a text that is long enough to be compressed. '.repeat(100);
type Written = (res: ServerResponse) => void;

interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

describe('gzip', () => {
  let gateway: Served;
  let acceptEncoding: string | undefined;
  afterEach(() => gateway.close());

  /** Starts a gateway in front of a server that responds like `written`. */
  async function compressing(gzip: Gzip, written: Written): Promise<void> {
    const { port } = await start((req, res) => {
      acceptEncoding = req.headers['accept-encoding'];
      written(res);
    });
    gateway = await served({ http: { gzip }, upstreams: [upstreamOf([endpointOf(port)])] });
  }

  function get(accepted: string | undefined, { method = 'GET', path = '/' } = {}): Promise<Received> {
    return new Promise((resolve, reject) => {
      const headers = { host: 'a.example', ...(accepted !== undefined && { 'accept-encoding': accepted }) };
      const req = httpRequest({ host: '127.0.0.1', port: gateway.port, path, method, headers, agent: false }, (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, bytes: Buffer.concat(chunks) }));
      });
      req.on('error', reject).end();
    });
  }

  const text =
    (headers: Record<string, string> = {}, body: string | Buffer = TEXT): Written =>
    (res) =>
      res
        .writeHead(200, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(body), ...headers })
        .end(body);

  const DECODERS = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync } as const;
  for (const encoding of ['gzip', 'br', 'zstd'] as const)
    it(`compresses with ${encoding}`, async () => {
      await compressing({}, text({ etag: '"1"', 'accept-ranges': 'bytes', vary: 'Origin' }));
      const { headers, bytes } = await get(encoding);
      expect(headers).include({ 'content-encoding': encoding, vary: 'Origin, Accept-Encoding' });
      expect(headers).not.have.any.keys('content-length', 'etag', 'accept-ranges');
      expect(DECODERS[encoding](bytes).toString()).equal(TEXT);
      expect(bytes.length).below(TEXT.length / 5);
      const stats = ['compressed', 'not_compressed', 'total_uncompressed_bytes', 'total_compressed_bytes'];
      expect(stats.map((name) => gateway.stat(`http.http.gzip.${name}`))).deep.equal([1, 0, TEXT.length, bytes.length]);
    });

  for (const [name, accepted, expected] of [
    ['the first of equal ones', 'br, gzip', 'gzip'],
    ['the one with the highest weight', 'gzip;q=0.5, br;q=0.9, zstd;q=0.1', 'br'],
    ['the first for any', '*', 'gzip'],
    ['any but an excluded one', 'gzip;q=0, *', 'br'],
    ['x-gzip', 'x-gzip', 'gzip'],
    ['none if identity has a higher weight', 'identity, gzip;q=0.5', undefined],
    ['none if only identity is accepted', 'identity', undefined],
    ['none if none is known', 'deflate, compress', undefined],
    ['none for a weight that is no number', 'gzip;q=x', undefined],
    ['none for an empty header', '', undefined],
  ] as const)
    it(`chooses ${name}`, () => expect(chooseEncoding(accepted, ['gzip', 'br', 'zstd'])).equal(expected));

  it('prefers an encoding over none of the same weight', () => {
    expect(chooseEncoding('identity, gzip', ['gzip'])).equal('gzip');
    expect(chooseEncoding('identity, gzip;q=0.9', ['gzip'])).equal(undefined);
  });

  for (const encoding of ['gzip', 'br', 'zstd'] as const)
    it(`compresses better with the level BEST than with SPEED, by ${encoding}`, async () => {
      const body = Buffer.from(Array.from({ length: 20_000 }, (_, i) => Math.floor(i ** 1.5) % 997).join(' '));
      const sizes: number[] = [];
      for (const compressionLevel of ['BEST', 'SPEED'] as const) {
        const stream = compressorsOf({ compressionLevel }).get(encoding)!(false);
        stream.end(body);
        let size = 0;
        for await (const chunk of stream) size += (chunk as Buffer).length;
        sizes.push(size);
      }
      expect(sizes[0]).below(sizes[1]!);
    });

  it('compresses bodies from the minimum length on', async () => {
    await compressing({ contentLength: 100 }, text({}, 'x'.repeat(100)));
    expect((await get('gzip')).headers).include({ 'content-encoding': 'gzip' });
  });

  it('uses only the encodings of the block, in its order', async () => {
    await compressing({ encodings: ['zstd', 'gzip'] }, text());
    expect((await get('gzip, br, zstd')).headers['content-encoding']).equal('zstd');
    expect((await get('br')).headers).not.have.property('content-encoding');
  });

  for (const [name, gzip, written] of [
    ['a short body', { contentLength: 10_000 }, text()],
    ['another content type', {}, text({ 'content-type': 'image/png' })],
    ['no content type', {}, (res: ServerResponse) => res.end(TEXT)],
    ['a content type that is not listed', { contentType: ['text/html'] }, text()],
    ['a compressed body', {}, text({ 'content-encoding': 'gzip' }, gzipSync(TEXT))],
    ['no-transform', {}, text({ 'cache-control': 'public, no-transform' })],
    ['an etag, if disabled', { disableOnEtagHeader: true }, text({ etag: 'W/"1"' })],
    [
      'a part',
      {},
      (res: ServerResponse) =>
        res.writeHead(206, { 'content-type': 'text/plain', 'content-range': 'bytes 0-9/90' }).end(TEXT),
    ],
    ['204', {}, (res: ServerResponse) => res.writeHead(204, { 'content-type': 'text/plain' }).end()],
    [
      'an event stream',
      {},
      (res: ServerResponse) => res.writeHead(200, { 'content-type': 'text/event-stream' }).end(TEXT),
    ],
  ] as const)
    it(`does not compress ${name}`, async () => {
      await compressing(gzip as Gzip, written);
      const { headers } = await get('gzip');
      expect(headers).not.have.property('vary');
      if (name !== 'a compressed body') expect(headers).not.have.property('content-encoding');
      expect(gateway.stat('http.http.gzip.not_compressed')).equal(1);
    });

  it('keeps a weak etag, and adds vary if the client accepts nothing', async () => {
    await compressing({}, text({ etag: 'W/"1"' }));
    expect((await get('gzip')).headers).include({ etag: 'W/"1"', 'content-encoding': 'gzip' });
    const { headers, bytes } = await get(undefined);
    expect(headers).include({ etag: 'W/"1"', vary: 'Accept-Encoding', 'content-length': String(TEXT.length) });
    expect(bytes.toString()).equal(TEXT);
  });

  it('describes the body of HEAD, without one', async () => {
    await compressing({}, text());
    const { headers, bytes } = await get('gzip', { method: 'HEAD' });
    expect(headers).include({ 'content-encoding': 'gzip' });
    expect(headers).not.have.property('content-length');
    expect(bytes.length).equal(0);
  });

  it('compresses direct responses', async () => {
    gateway = await served({ http: { gzip: {} }, routes: [directOf(TEXT)] });
    const { headers, bytes } = await get('gzip');
    expect(headers['content-encoding']).equal('gzip');
    expect(gunzipSync(bytes).toString()).equal(TEXT);
  });

  it('flushes each part of an event stream that is listed', async () => {
    let upstream: ServerResponse | undefined;
    await compressing({ contentType: ['text/event-stream'] }, (res) => {
      upstream = res.writeHead(200, { 'content-type': 'text/event-stream' });
      upstream.write('data: 1\n\n');
    });
    const headers = { 'accept-encoding': 'gzip' };
    const req = httpRequest({ host: '127.0.0.1', port: gateway.port, headers, agent: false }).end();
    const [res] = (await once(req, 'response')) as [import('node:http').IncomingMessage];
    const [first] = (await once(res, 'data')) as [Buffer];
    expect(gunzipSync(first, { finishFlush: 2 }).toString()).equal('data: 1\n\n');
    upstream!.end();
    await once(res.resume(), 'end');
  });

  it('aborts the response when the upstream does', async () => {
    await compressing({}, (res) => {
      res.writeHead(200, { 'content-type': 'text/plain' }).write(TEXT, () => res.destroy());
    });
    const failed = await get('gzip').then(
      () => 'complete',
      () => 'aborted',
    );
    expect(failed).equal('aborted');
  });

  it('forwards accept-encoding unless it is removed', async () => {
    await compressing({}, text());
    await get('gzip');
    expect(acceptEncoding).equal('gzip');
    await gateway.close();
    await compressing({ removeAcceptEncodingHeader: true }, text());
    expect((await get('gzip')).headers['content-encoding']).equal('gzip');
    expect(acceptEncoding).equal(undefined);
  });

  it('compresses large bodies with back-pressure', async () => {
    const large = Buffer.alloc(8 * 1024 * 1024, TEXT);
    await compressing({ compressionLevel: 'SPEED' }, (res) =>
      res.writeHead(200, { 'content-type': 'text/plain' }).end(large),
    );
    const { bytes } = await get('gzip');
    expect(gunzipSync(bytes).equals(large)).equal(true);
  });
});
