import { expect } from 'chai';
import { skip } from '../../../../test/parts/skip.ts';
import { ReadBuffer } from '../../src/http1/read-buffer.ts';
import { acquireBuffer, isPooledView, recycleView } from '../../src/http1/spare-buffers.ts';

/** Reads `size` bytes of `value` into it, as a socket does, and takes them. */
function readAndTake(reading: ReadBuffer, size: number, value: number): Buffer {
  const buffer = reading.current.fill(value, 0, size);
  return reading.keep(buffer, 0, size);
}

describe('a read buffer', () => {
  it('is shared by all connections while reads are small, and returns copies', function () {
    if (process.platform === 'win32') skip(this, 'connections share no buffer on Windows');
    const [one, other] = [new ReadBuffer(), new ReadBuffer()];
    expect(one.current).to.equal(other.current);
    const taken = readAndTake(one, 1000, 1);
    readAndTake(other, 1000, 2);
    expect(taken.equals(Buffer.alloc(1000, 1))).to.equal(true);
    expect(one.current).to.equal(other.current);
  });

  it('is dedicated while reads are large, and never overwrites returned bytes', () => {
    const [one, other] = [new ReadBuffer(), new ReadBuffer()];
    const sizes = [65_536, 40_000, 100, 65_536, 32_768, 5000, 65_536];
    const taken = sizes.flatMap((size, i) => [readAndTake(one, size, i + 1), readAndTake(other, size, i + 101)]);
    for (const [i, chunk] of taken.entries()) {
      const value = (i % 2 === 0 ? 1 : 101) + Math.floor(i / 2);
      expect(chunk.equals(Buffer.alloc(sizes[Math.floor(i / 2)]!, value)), `piece ${i}`).to.equal(true);
    }
    expect(one.current).to.not.equal(other.current);
  });

  it('returns two parts of one read in any order', () => {
    const reading = new ReadBuffer();
    readAndTake(reading, 65_536, 1);
    const buffer = reading.current.fill(2, 0, 40_000).fill(3, 40_000);
    const first = reading.keep(buffer, 0, 40_000);
    const second = reading.keep(buffer, 40_000, 40_100);
    readAndTake(reading, 65_536, 4);
    expect(first.equals(Buffer.alloc(40_000, 2))).to.equal(true);
    expect(second.equals(Buffer.alloc(100, 3))).to.equal(true);
  });

  it('reuses released buffers, and none whose bytes may still be needed', () => {
    const reading = new ReadBuffer();
    readAndTake(reading, 65_536, 1);
    const [view, copy] = [readAndTake(reading, 65_536, 2), readAndTake(reading, 1000, 3)];
    expect([isPooledView(view), isPooledView(copy)]).to.deep.equal([true, false]);
    const buffer = reading.current.fill(4, 0, 40_000).fill(5, 40_000);
    const [first, second] = [reading.keep(buffer, 0, 32_768), reading.keep(buffer, 32_768, 65_536)];
    expect(first.buffer === second.buffer).to.equal(false);
    recycleView(view);
    readAndTake(reading, 65_536, 6);
    expect(reading.current.buffer === view.buffer).to.equal(true);
    expect(second.subarray(0, 7000).equals(Buffer.alloc(7000, 4))).to.equal(true);
  });

  it('releases its own memory when it is reset', function () {
    if (process.platform === 'win32') skip(this, 'connections share no buffer on Windows');
    const reading = new ReadBuffer();
    readAndTake(reading, 65_536, 1);
    const own = reading.current;
    reading.reset();
    expect(reading.current).to.equal(new ReadBuffer().current);
    expect(acquireBuffer().buffer === own.buffer).to.equal(true);
  });
});
