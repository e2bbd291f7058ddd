import { expect } from 'chai';
import { FrameCursor } from '../../src/websocket/frame-cursor.ts';
import { frame } from './frames.ts';

const LENGTHS = [0, 5, 125, 126, 300, 65_535, 65_536, 70_000];

/** Returns integers below a bound, the same ones in each run. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (state * 48_271) % 2_147_483_647) % below;
}

describe('FrameCursor', () => {
  for (const masked of [false, true]) {
    for (const length of LENGTHS) {
      it(`is between frames only around a ${masked ? 'masked ' : ''}frame of ${length} bytes`, () => {
        const bytes = frame(Buffer.alloc(length, 0xff), { masked });
        const cursor = new FrameCursor();
        expect(cursor.isBetweenFrames).to.equal(true);
        for (let at = 0; at < bytes.length; at++) {
          cursor.follow(bytes.subarray(at, at + 1));
          if (cursor.isBetweenFrames !== (at === bytes.length - 1)) expect.fail(`wrong after byte ${at}`);
        }
      });
    }
  }

  it('finds each end of a frame, however the bytes are split', () => {
    const random = sequence(7);
    for (let round = 0; round < 200; round++) {
      const frames = Array.from({ length: 5 }, () => frame(Buffer.alloc(random(400)), { masked: random(2) === 1 }));
      const bytes = Buffer.concat(frames);
      const cursor = new FrameCursor();
      const ends: number[] = [];
      for (let at = 0; at < bytes.length;) {
        const chunk = bytes.subarray(at, at + 1 + random(200));
        for (let from = 0; from < chunk.length;) {
          if (cursor.isBetweenFrames) {
            cursor.follow(chunk.subarray(from, from + 1));
            from++;
          }
          from += cursor.finishFrame(chunk.subarray(from));
          if (cursor.isBetweenFrames) ends.push(at + from);
        }
        at += chunk.length;
      }
      let end = 0;
      expect(ends).to.deep.equal(frames.map(({ length }) => (end += length)));
    }
  });
});
