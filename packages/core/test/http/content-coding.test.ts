import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { decodeContent } from '../../src/http/content-coding.ts';

describe('content coding', () => {
  const text = Buffer.from('{"keys":[]}');

  it('is decoded by the names in the header, the last one first', () => {
    const bodies: Readonly<Record<string, Buffer>> = {
      identity: text,
      '': text,
      gzip: gzipSync(text),
      'X-GZIP': gzipSync(text),
      deflate: deflateSync(text),
      br: brotliCompressSync(text),
      'deflate, gzip': gzipSync(deflateSync(text)),
    };
    for (const [names, body] of Object.entries(bodies))
      expect(decodeContent(body, names, 1000).toString(), names).to.equal(String(text));
    expect(decodeContent(text, undefined, 1000)).to.equal(text);
  });

  it('is rejected if it is unknown, invalid or too large', () => {
    expect(() => decodeContent(text, 'constructor', 1000)).to.throw('content-encoding "constructor" is not supported');
    const five = Array(5).fill('identity').join(',');
    expect(() => decodeContent(text, five, 1000)).to.throw('content-encoding with more than 4 codings');
    expect(() => decodeContent(text, 'gzip', 1000)).to.throw();
    expect(() => decodeContent(gzipSync(Buffer.alloc(1001)), 'gzip', 1000)).to.throw();
  });
});
