import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { acquireBuffer, isPooledView, LARGE, recycleBuffer } from '../../src/http1/spare-buffers.ts';
import { JoinedData } from '../../src/http2/joined-data.ts';

const SIZE = 2 * LARGE;
const source = randomBytes(SIZE);
const part = (start: number, end: number): Buffer => source.subarray(start, end);
const unexpected = (): never => expect.fail('the data is no longer in the buffer that it was read into');

describe('data of successive frames', () => {
  /** Returns data of a buffer with the bytes of the source, and this buffer. */
  function dataOf(start: number, end: number): { data: JoinedData<object>; buffer: Buffer } {
    const buffer = Buffer.from(source);
    return { data: new JoinedData({}, buffer, start, end), buffer };
  }

  it('is joined from 4 KiB on, up to the size of a buffer', () => {
    const short = dataOf(9, 9 + 4095).data;
    expect([short.isWorthJoining, short.accepts(1)]).to.deep.equal([false, false]);
    const { data } = dataOf(9, 9 + 4096);
    expect([data.isWorthJoining, data.accepts(SIZE - 4096), data.accepts(SIZE - 4095)]).to.deep.equal([
      true,
      true,
      false,
    ]);
  });

  it('is moved together in the buffer that it was read into', () => {
    const { data, buffer } = dataOf(9, 5009);
    data.move(5018, 6018);
    data.move(6027, 6028);
    expect(data.length).to.equal(6001);
    const taken = data.read((from, start, end) => {
      expect([from, start, end]).to.deep.equal([buffer, 9, 6010]);
      return Buffer.from(from.subarray(start, end));
    });
    expect(taken.equals(Buffer.concat([part(9, 5009), part(5018, 6018), part(6027, 6028)]))).to.equal(true);
  });

  it('is copied if the buffer is used again', () => {
    const { data, buffer } = dataOf(9, 5009);
    data.keep();
    buffer.fill(0);
    data.copy(source, 3, 5003);
    data.copy(source, 100, 40_000);
    const expected = Buffer.concat([part(9, 5009), part(3, 5003), part(100, 40_000)]);
    expect(data.length).to.equal(expected.length);
    expect(data.read(unexpected).equals(expected)).to.equal(true);
  });

  for (const length of [4096, 10_000, LARGE - 1, LARGE, SIZE]) {
    it(`of ${length} bytes takes little more memory when it was copied`, () => {
      const { data } = dataOf(0, length);
      data.keep();
      const taken = data.read(unexpected);
      expect(taken.equals(part(0, length))).to.equal(true);
      if (length > 8192) expect(taken.buffer.byteLength).to.be.at.most(2 * length);
      expect(isPooledView(taken)).to.equal(length > 8192);
    });
  }

  for (const [what, end] of Object.entries<(data: JoinedData<object>) => void>({
    'is short': (data) => data.read(unexpected),
    'is not needed': (data) => data.drop(),
  })) {
    it(`releases the buffer of its copy if it ${what}`, () => {
      const spare = acquireBuffer();
      recycleBuffer(spare);
      const { data } = dataOf(0, 4096);
      data.keep();
      expect(acquireBuffer().buffer === spare.buffer).to.equal(false);
      end(data);
      expect(acquireBuffer().buffer === spare.buffer).to.equal(true);
    });
  }

  it('leaves the buffer that it was read into to its owner', () => {
    const buffer = acquireBuffer();
    new JoinedData({}, buffer, 0, 5000).drop();
    expect(acquireBuffer().buffer === buffer.buffer).to.equal(false);
  });
});
