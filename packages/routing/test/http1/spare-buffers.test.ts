import { expect } from 'chai';
import { copyOf, free, freeWhenSent, isPooledView, recycleView } from '../../src/http1/spare-buffers.ts';

const KB = 1024;
const source = Buffer.alloc(64 * KB, 'abcdefgh');

describe('a copy of data that was read', () => {
  for (const [size, reusable] of [
    [1, false],
    [8 * KB - 1, false],
    [8 * KB, true],
    [16 * KB, true],
    [16 * KB + 1, true],
    [32 * KB, true],
    [40 * KB, true],
    [64 * KB, true],
  ] as const) {
    it(`has the same ${size} bytes, in a buffer that can${reusable ? '' : 'not'} be reused`, () => {
      const copy = copyOf(source, 3, 3 + Math.min(size, source.length - 3));
      expect(copy.equals(source.subarray(3, 3 + copy.length))).to.equal(true);
      expect(isPooledView(copy)).to.equal(reusable);
      expect(copy.buffer.byteLength).to.be.at.most(reusable ? 2 * copy.length + 6 : 64 * KB);
    });
  }

  it('reuses the buffer of an earlier copy that was released, and no other', () => {
    const [kept, released] = [copyOf(source, 0, 20 * KB), copyOf(source, 0, 20 * KB)];
    recycleView(released);
    const next = copyOf(source, 1, 1 + 20 * KB);
    expect(next.buffer === released.buffer).to.equal(true);
    expect(copyOf(source, 1, 1 + 20 * KB).buffer).to.not.be.oneOf([kept.buffer, next.buffer]);
    expect(kept.equals(source.subarray(0, 20 * KB))).to.equal(true);
  });

  it('is released when it was sent, and stays as it is if it was not', () => {
    const copy = copyOf(source, 0, 20 * KB);
    freeWhenSent(copy, { destroyed: false })(new Error('the stream is closed'));
    expect(copyOf(source, 0, 20 * KB).buffer === copy.buffer).to.equal(false);
    freeWhenSent(copy, { destroyed: true })(null);
    expect(copyOf(source, 0, 20 * KB).buffer === copy.buffer).to.equal(false);
    freeWhenSent(copy, { destroyed: false })(null);
    expect(copyOf(source, 0, 20 * KB).buffer === copy.buffer).to.equal(true);
  });

  it('is not reusable if it is a view of other memory, or of a small part of a buffer', () => {
    expect(isPooledView(Buffer.allocUnsafeSlow(64 * KB))).to.equal(false);
    expect(isPooledView(Buffer.allocUnsafeSlow(16 * KB))).to.equal(false);
    expect(isPooledView(copyOf(source, 0, 64 * KB).subarray(0, 16 * KB))).to.equal(false);
  });

  it('of other memory is released too, but not used again', () => {
    const chunk = Buffer.allocUnsafeSlow(32 * KB);
    const { buffer } = chunk;
    free(chunk);
    expect((buffer as ArrayBuffer).detached).to.equal(true);
  });

  it('keeps only a limited amount of memory for later ones', () => {
    const copies = Array.from({ length: 200 }, () => copyOf(source, 0, 16 * KB));
    const memory = new Set(copies.map(({ buffer }) => buffer));
    expect(memory.size).to.equal(200);
    for (const copy of copies) recycleView(copy);
    const again = Array.from({ length: 200 }, () => copyOf(source, 0, 16 * KB));
    expect(again.filter(({ buffer }) => memory.has(buffer)).length).to.equal(128);
  });
});
