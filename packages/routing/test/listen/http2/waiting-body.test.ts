import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { copyOf } from '../../../src/http1/spare-buffers.ts';
import { WaitingBody } from '../../../src/listen/http2/waiting-body.ts';

const source = randomBytes(64 * 1024);

describe('a body that waits for its reader', () => {
  /** Returns everything that waits, part by part. */
  function drain(body: WaitingBody): Buffer[] {
    const parts: Buffer[] = [];
    for (let part = body.shift(); part; part = body.shift()) parts.push(part);
    return parts;
  }

  it('returns its parts in order; those whose buffer can be used again are not copied', () => {
    const body = new WaitingBody();
    const sizes = [10, 20, 20_000, 5, 30_000, 40_000, 7];
    const added = sizes.map((size, i) => copyOf(source, i, i + size));
    for (const part of added) body.add(part);
    expect(body.bytes).to.equal(Buffer.concat(added).length);
    const parts = drain(body);
    expect(Buffer.concat(parts).equals(Buffer.concat(added))).to.equal(true);
    expect(parts.map(({ length }) => length)).to.deep.equal([30, 20_000, 5, 30_000, 40_000, 7]);
    for (const i of [2, 4, 5]) expect(parts.some(({ buffer }) => buffer === added[i]!.buffer)).to.equal(true);
    expect(body.bytes).to.equal(0);
  });

  it('joins many short parts before they are read', () => {
    const body = new WaitingBody();
    for (let i = 0; i < 2500; i++) body.add(Buffer.from(source.subarray(i, i + 1)));
    const parts = drain(body);
    expect(parts.map(({ length }) => length)).to.deep.equal([1000, 1000, 500]);
    expect(Buffer.concat(parts).equals(source.subarray(0, 2500))).to.equal(true);
  });

  it('counts what is still unread while more arrives', () => {
    const body = new WaitingBody();
    body.add(Buffer.from('ab'));
    body.add(copyOf(source, 0, 20_000));
    expect([body.bytes, body.shift()!.toString(), body.bytes]).to.deep.equal([20_002, 'ab', 20_000]);
    body.add(Buffer.from('c'));
    expect(drain(body).map(({ length }) => length)).to.deep.equal([20_000, 1]);
    expect([body.bytes, body.shift()]).to.deep.equal([0, undefined]);
  });
});
