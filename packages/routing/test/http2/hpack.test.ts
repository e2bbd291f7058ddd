import { expect } from 'chai';
import { decodeHuffman } from '../../src/http2/huffman.ts';
import { CompressionError, HpackDecoder } from '../../src/http2/hpack-decoder.ts';
import { encodeFields, NO_TABLE } from '../../src/http2/hpack-encoder.ts';
import { fields, integer } from '../listen/http2/frames.ts';
import { HpackDecoder as TestDecoder } from '../listen/http2/hpack.ts';

const LIMIT = 64 * 1024;
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

function decoderOf(limit = LIMIT, maxFields?: number) {
  const decoder = new HpackDecoder(limit, maxFields);
  return (block: Buffer) => decoder.decode(block, 0, block.length);
}

describe('HpackDecoder', () => {
  it('decodes the responses of RFC 7541 appendix C.5 and C.6, whose table evicts entries', () => {
    const first =
      ':status|302|cache-control|private|date|Mon, 21 Oct 2013 20:13:21 GMT|location|https://www.example.com'.split(
        '|',
      );
    const second = first.with(1, '307');
    const third = [
      ...first.with(1, '200').with(5, 'Mon, 21 Oct 2013 20:13:22 GMT'),
      'content-encoding',
      'gzip',
      'set-cookie',
      'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
    ];
    const plain = [
      `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d
       546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
      '4803 3330 37c1 c0bf',
      `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f
       6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b
       2076 6572 7369 6f6e 3d31`,
    ];
    const compressed = [
      '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
      '4883 640e ffc1 c0bf',
      `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335
       dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
    ];
    for (const blocks of [plain, compressed]) {
      // The table of the examples has 256 bytes.
      const decode = decoderOf();
      const [one, two, three] = blocks.map(hex);
      expect(decode(Buffer.concat([hex('3fe1 01'), one!])).raw).to.deep.equal(first);
      expect(decode(two!).raw).to.deep.equal(second);
      expect(decode(three!).raw).to.deep.equal(third);
    }
  });

  it('decodes equal blocks again, whether they use the table or not', () => {
    const decode = decoderOf();
    const plain = fields([':status', '200'], ['x-a', 'b']);
    const adding = Buffer.concat([Buffer.of(0x40, 1), Buffer.from('n'), Buffer.of(1), Buffer.from('v')]);
    for (let i = 0; i < 3; i++) {
      expect(decode(plain).raw).to.deep.equal([':status', '200', 'x-a', 'b']);
      for (let j = 0; j < 2; j++) expect(decode(adding).raw).to.deep.equal(['n', 'v']);
    }
    // Each of the six is an entry of its own.
    expect(decode(Buffer.of(0xc3)).raw).to.deep.equal(['n', 'v']);
    expect(() => decode(Buffer.of(0xc4))).to.throw(CompressionError, 'no field has the index 68');
  });

  it('empties the table again for an equal block that sets its size', () => {
    const decode = decoderOf();
    const emptying = Buffer.concat([Buffer.of(0x20), fields([':status', '200'])]);
    const adding = Buffer.concat([
      hex('3fe1 1f'),
      Buffer.of(0x40, 1),
      Buffer.from('n'),
      Buffer.of(1),
      Buffer.from('v'),
    ]);
    for (let i = 0; i < 2; i++) {
      expect(decode(emptying).raw).to.deep.equal([':status', '200']);
      expect(() => decode(Buffer.of(0xbe))).to.throw(CompressionError, 'no field has the index 62');
      expect(decode(adding).raw).to.deep.equal(['n', 'v']);
      expect(decode(Buffer.of(0xbe)).raw).to.deep.equal(['n', 'v']);
    }
  });

  it('empties the table for an entry that is too large, and for the size 0', () => {
    const added = (value: string) =>
      Buffer.concat([Buffer.of(0x40, 1), Buffer.from('n'), integer(value.length, 7), Buffer.from(value)]);
    for (const emptying of [added('v'.repeat(5000)), Buffer.of(0x20)]) {
      const decode = decoderOf();
      decode(added('v'));
      expect(decode(Buffer.of(0xbe)).raw).to.deep.equal(['n', 'v']);
      decode(emptying);
      expect(() => decode(Buffer.of(0xbe))).to.throw(CompressionError, 'no field has the index 62');
    }
  });

  it('rejects invalid blocks', () => {
    const cases: Readonly<Record<string, string>> = {
      'no field has the index 0': '80',
      'no field has the index 62': 'be',
      'an integer is too large': 'ff ff ff ff ff 01',
      'a header block ends within a field': '00',
      'a header block ends within a string': '00 05 61',
      'the table size 4097 is larger than 4096': '3f e2 1f',
      'a table size update follows a field': '88 20',
      'a string is not encoded correctly': '00 81 00 01 61',
    };
    for (const [message, block] of Object.entries(cases))
      expect(() => decoderOf()(hex(block)), block).to.throw(CompressionError, message);
  });

  it('cuts a long list, and keeps the table right', () => {
    // 4,000 references to an entry of 3,000 bytes: 12 MB from 7 KB.
    const decode = decoderOf();
    const value = 'v'.repeat(3000);
    const adding = Buffer.concat([Buffer.of(0x40, 1), Buffer.from('n'), integer(value.length, 7), Buffer.from(value)]);
    const last = Buffer.concat([Buffer.of(0x40, 1), Buffer.from('m'), Buffer.of(1), Buffer.from('w')]);
    const { raw, isTooLong } = decode(Buffer.concat([adding, Buffer.alloc(4000, 0xbe), last]));
    expect(isTooLong).to.equal(true);
    expect(raw.join('').length).to.be.at.most(LIMIT);
    expect(decode(Buffer.of(0xbe))).to.deep.equal({ raw: ['m', 'w'], isTooLong: false });
  });

  it('truncates a list of many short fields', () => {
    const decode = decoderOf(LIMIT, 3);
    const list = (count: number): Buffer => fields(...Array.from({ length: count }, () => ['a', ''] as const));
    expect(decode(list(3))).to.deep.equal({ raw: ['a', '', 'a', '', 'a', ''], isTooLong: false });
    expect(decode(list(4))).to.deep.equal({ raw: ['a', '', 'a', '', 'a', ''], isTooLong: true });
  });
});

describe('decodeHuffman', () => {
  const decode = (text: string) => decodeHuffman(hex(text), 0, hex(text).length);

  it('decodes strings of RFC 7541', () => {
    expect(decode('f1e3 c2e5 f23a 6ba0 ab90 f4ff')).to.equal('www.example.com');
    expect(decode('25a8 49e9 5bb8 e8b4 bf')).to.equal('custom-value');
    expect(decode('')).to.equal('');
  });

  it('rejects the end symbol, and padding that is too long or not all ones', () => {
    // `0` is 00000.
    expect(decode('07')).to.equal('0');
    for (const invalid of ['00', '06', '07ff', 'ff', 'ffffffff', 'fffffffc', '07ffffffff'])
      expect(decode(invalid), invalid).to.equal(undefined);
  });
});

describe('encodeFields', () => {
  const decode = (block: string) => new TestDecoder().decode(Buffer.from(block, 'latin1'));

  it('encodes what a decoder reads', () => {
    const lists = [
      [':method', 'GET', ':scheme', 'https', ':authority', 'a', ':path', '/index.html'],
      [':method', 'PATCH', ':path', '/', 'x-empty', '', 'x-latin', 'caf\u00e9', 'content-length', '0'],
      ['x-long', 'v'.repeat(126), 'x-longer', 'v'.repeat(127), 'x-longest', 'v'.repeat(70_000), 'n'.repeat(300), '1'],
      ['x-a', '1', 'x-a', '2', 'constructor', 'toString', '__proto__', '__proto__'],
    ];
    for (const list of lists) expect(decode(encodeFields(list)).flat()).to.deep.equal(list);
    expect(decode(NO_TABLE + encodeFields(['x-a', '1'])).flat()).to.deep.equal(['x-a', '1']);
  });

  it('marks secrets as such, and adds nothing to the table', () => {
    for (const name of ['authorization', 'cookie', 'proxy-authorization'])
      expect(encodeFields([name, 'secret']).charCodeAt(0) & 0xf0, name).to.equal(0x10);
    expect(encodeFields(['x-a', '1']).charCodeAt(0)).to.equal(0);
    expect(encodeFields([':method', 'GET'])).to.equal('\x82');
  });
});
