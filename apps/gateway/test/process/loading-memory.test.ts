import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

const MODULE = new URL('../../src/process/loading-memory.ts', import.meta.url).href;

/** Sizes of the heap before and after `releaseLoadingMemory`, and whether the garbage of `objects` was collected. */
async function afterLoading(
  objects: number,
): Promise<{ readonly before: number; readonly after: number; readonly isCollected: boolean }> {
  const program = `
    const { getHeapStatistics } = await import('node:v8');
    const { releaseLoadingMemory } = await import('${MODULE}');
    function load() {
      const loaded = Array.from({ length: ${objects} }, (_, i) => ({ i, text: [i] }));
      return { before: getHeapStatistics().total_heap_size, last: new WeakRef(loaded.at(-1)) };
    }
    const { before, last } = load();
    await new Promise((resolve) => setImmediate(resolve));
    await releaseLoadingMemory();
    const isCollected = last.deref() === undefined;
    console.log(JSON.stringify({ before, after: getHeapStatistics().total_heap_size, isCollected }));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  return JSON.parse(stdout) as Awaited<ReturnType<typeof afterLoading>>;
}

describe('releaseLoadingMemory', () => {
  it('returns the memory of a large heap to the system', async () => {
    const { before, after, isCollected } = await afterLoading(2_500_000);
    expect(before).greaterThan(128 * 1024 * 1024);
    expect(isCollected).equal(true);
    expect(after).lessThan(before / 3);
  });

  it('does nothing if the heap is small', async () => {
    expect(await afterLoading(10)).to.include({ isCollected: false });
  });
});
