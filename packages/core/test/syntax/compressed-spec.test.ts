import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { compressSpec, inflateSpec, MAX_SPEC_BYTES } from '../../src/syntax/compressed-spec.ts';

describe('a compressed spec', () => {
  it('is read as it was written', () => {
    const spec = { listeners: [{ name: 'listener-::-8080', bindPort: 8080 }] };
    expect(inflateSpec(compressSpec(spec))).to.deep.equal(spec);
  });

  it('may be wrapped', () => {
    const text = compressSpec({ listeners: [] });
    expect(inflateSpec(`${text.slice(0, 8)}\n${text.slice(8)}\n`)).to.deep.equal({ listeners: [] });
  });

  const pack = (text: string): string => gzipSync(text).toString('base64');
  const bomb = gzipSync(Buffer.alloc(MAX_SPEC_BYTES + 1, ' ')).toString('base64');
  const rejected: readonly (readonly [name: string, text: string, reason: string])[] = [
    ['no text', '', 'it is not base64'],
    ['other characters', '{"listeners": []}', 'it is not base64'],
    ['half of a text', compressSpec({ listeners: [1, 2, 3] }).slice(0, 20), 'it cannot be decompressed by gzip'],
    ['bytes that are not compressed', Buffer.from('{}').toString('base64'), 'it cannot be decompressed by gzip'],
    ['anything but JSON', pack('listeners: []'), 'it is not JSON'],
    ['a list', pack('[]'), 'it is not a JSON object'],
    ['null', pack('null'), 'it is not a JSON object'],
    ['a text that inflates to more than 64 MiB', bomb, 'it is longer than 64 MiB'],
  ];
  for (const [name, text, reason] of rejected) {
    it(`rejects ${name}`, () => {
      expect(() => inflateSpec(text)).to.throw(Error, reason);
    });
  }
});
