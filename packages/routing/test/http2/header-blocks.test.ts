import { expect } from 'chai';
import {
  CONTINUATION,
  DEFAULT_FRAME_BYTES,
  END_HEADERS,
  END_STREAM,
  HAS_PRIORITY,
  HEADERS,
  PADDED,
} from '../../src/http2/frame-types.ts';
import { HeaderBlocks } from '../../src/http2/header-blocks.ts';
import { encodeFields } from '../../src/http2/hpack-encoder.ts';

const MAX_LIST = 100;
const frame = (type: number, flags: number, text: string, id = 1) => {
  const buffer = Buffer.from(text, 'latin1');
  return { type, flags, id, buffer, start: 0, end: buffer.length };
};
const FIELDS = ['x-a', 'one', 'x-b', 'two'];
const BLOCK = encodeFields(FIELDS);

describe('header blocks', () => {
  let blocks: HeaderBlocks;
  beforeEach(() => (blocks = new HeaderBlocks(MAX_LIST)));
  const read = (...given: Parameters<typeof frame>) => blocks.read(frame(...given));

  it('are complete with the last of their frames, and end a stream as their first one says', () => {
    expect(read(HEADERS, END_STREAM, BLOCK.slice(0, 4))).to.equal(undefined);
    expect(() => blocks.checkNone()).to.throw('a header block is not complete');
    expect(read(CONTINUATION, 0, BLOCK.slice(4, 6))).to.equal(undefined);
    const block = read(CONTINUATION, END_HEADERS, BLOCK.slice(6))!;
    expect([block.id, block.isLast]).to.deep.equal([1, true]);
    expect(blocks.decode(block)).to.deep.equal({ raw: FIELDS, isTooLong: false });
    blocks.checkNone();
    expect(read(HEADERS, END_HEADERS, BLOCK, 3)).to.deep.include({ id: 3, isLast: false });
  });

  it('are continued by frames of the same stream only', () => {
    read(HEADERS, 0, BLOCK.slice(0, 4));
    expect(() => read(CONTINUATION, END_HEADERS, BLOCK.slice(4), 3)).to.throw('continues no header block');
    expect(() => new HeaderBlocks(MAX_LIST).read(frame(CONTINUATION, END_HEADERS, BLOCK))).to.throw('continues no');
  });

  it('are limited in bytes and frames', () => {
    const half = 'x'.repeat(4 * MAX_LIST);
    read(HEADERS, 0, half);
    expect(read(CONTINUATION, 0, half)).to.equal(undefined);
    expect(() => read(CONTINUATION, 0, 'x')).to.throw('a header block is too long');
    for (const [maxList, continuations] of [
      [MAX_LIST, 16],
      [16 * DEFAULT_FRAME_BYTES + 1, 17],
    ] as const) {
      blocks = new HeaderBlocks(maxList);
      read(HEADERS, 0, 'x');
      for (let i = 0; i < continuations; i++) read(CONTINUATION, 0, '');
      expect(() => read(CONTINUATION, 0, '')).to.throw('a header block is too long');
    }
  });

  it('have no padding and no priority', () => {
    const decoded = (flags: number, text: string) => blocks.decode(read(HEADERS, flags | END_HEADERS, text)!).raw;
    expect(decoded(PADDED, `\u0002${BLOCK}\0\0`)).to.deep.equal(FIELDS);
    expect(decoded(HAS_PRIORITY, `\0\0\0\u0007\0${BLOCK}`)).to.deep.equal(FIELDS);
    expect(decoded(PADDED | HAS_PRIORITY, `\u0001\0\0\0\u0007\0${BLOCK}\0`)).to.deep.equal(FIELDS);
    for (const [flags, text, problem] of [
      [PADDED, '', 'a padded frame is empty'],
      [PADDED, '\u0002x', 'the padding is longer'],
      [PADDED | HAS_PRIORITY, `\u0001\0\0\0\u0007\0`, 'the padding is longer'],
      [HAS_PRIORITY, '\0\0\0', 'the padding is longer'],
      [HAS_PRIORITY, '\u0080\0\0\u0001\0', 'depends on itself'],
    ] as const)
      expect(() => decoded(flags, text), problem).to.throw(problem);
  });
});
