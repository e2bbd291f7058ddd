import { expect } from 'chai';
import { createMemoryWatch, measureMemory, type MemoryUse, type MemoryWatch } from '../../src/listen/memory-watch.ts';

describe('the watch of memory', () => {
  let watch: MemoryWatch | undefined;
  afterEach(() => watch?.close());

  /** Returns what was reported once these measurements are over; the last one repeats. */
  async function report(measured: readonly Partial<MemoryUse>[]): Promise<boolean[]> {
    const reported: boolean[] = [];
    let index = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    watch = createMemoryWatch({
      measure: () => {
        if (index >= measured.length + 2) resolve();
        return { heap: 0, resident: 0, ...measured[Math.min(index++, measured.length - 1)] };
      },
      onChange: (isScarce) => reported.push(isScarce),
    });
    await promise;
    return reported;
  }

  it('reports scarce memory after two high measurements in a row', async () => {
    expect(await report([{ heap: 0.9 }])).to.deep.equal([true]);
    expect(watch!.isScarce).to.equal(true);
  });

  it('ignores a single high measurement, which may be garbage', async () => {
    expect(await report([{ heap: 0.95 }, { heap: 0.5 }, { heap: 0.95 }, { heap: 0.5 }])).to.deep.equal([]);
  });

  it('measures the memory of the container too', async () => {
    expect(await report([{ resident: 0.9 }])).to.deep.equal([true]);
  });

  it('ends only well below the limit', async () => {
    const falling = [{ heap: 0.9 }, { heap: 0.9 }, { heap: 0.8 }, { heap: 0.7 }];
    expect(await report(falling)).to.deep.equal([true, false]);
  });

  it('measures the process against its container, or against the machine without a limit of the container', () => {
    const rss = process.memoryUsage.rss();
    const cases = [
      [0, rss],
      [2 ** 60, rss],
      [rss, 2 ** 60],
    ] as const;
    for (const [constrained, machine] of cases)
      expect(measureMemory(constrained, machine)().resident, `${constrained}`).to.be.within(0.5, 2);
  });
});
