import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { youngGenerationFlags } from '../../src/process/young-generation.ts';

const MODULE = new URL('../../src/process/young-generation.ts', import.meta.url).href;
const MEGABYTE = 1024 * 1024;

/**
 * Capacity of a semispace in bytes while many objects survive, in many turns of the event loop or in one. `last` is that after a forced collection: before
 * one, V8 may exceed the capacity for a moment. It can be smaller on a busy machine, because V8 shrinks the young generation of a process that allocates slowly.
 */
interface Capacity {
  readonly last: number;
  readonly largest: number;
}

async function capacityAfter(
  limit: string,
  { turns = 'many', flags = [] }: { readonly turns?: 'many' | 'one'; readonly flags?: readonly string[] } = {},
): Promise<Capacity> {
  const program = `
    const { getHeapSpaceStatistics } = await import('node:v8');
    const { limitYoungGeneration } = await import('${MODULE}');
    ${limit}
    const kept = [];
    function capacity() {
      const space = getHeapSpaceStatistics().find((each) => each.space_name === 'new_space');
      return space.space_used_size + space.space_available_size;
    }
    let largest = 0;
    for (let turn = 0; turn < 200; turn++) {
      for (let i = 0; i < 10_000; i++) kept.push({ i, text: [i] });
      largest = Math.max(largest, capacity());
      if (${turns === 'many'}) await new Promise((resolve) => setImmediate(resolve));
    }
    gc({ type: 'minor' });
    console.log(JSON.stringify({ last: capacity(), largest }));
  `;
  const args = ['--expose-gc', '--max-semi-space-size=64', ...flags, '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Capacity;
}

describe('limitYoungGeneration', () => {
  it('lets it grow at once, and no further', async () => {
    for (const turns of ['many', 'one'] as const) {
      const { last, largest } = await capacityAfter('limitYoungGeneration([]);', { turns });
      expect(last).to.be.at.most(12 * MEGABYTE);
      expect(largest).to.be.greaterThan(3 * MEGABYTE);
    }
  });

  it('has no effect if flags set the size', async () => {
    const { largest } = await capacityAfter(`limitYoungGeneration(['--max-semi-space-size=64']);`);
    expect(largest).to.be.greaterThan(20 * MEGABYTE);
  });

  it('limits another process by its flags', async () => {
    const { last } = await capacityAfter('', { flags: youngGenerationFlags([]) });
    expect(last).to.be.at.most(12 * MEGABYTE);
    expect(youngGenerationFlags(['--max-semi-space-size=64'])).to.deep.equal([]);
    expect(youngGenerationFlags(['--max-old-space-size=512 --min_semi_space_size=2'])).to.deep.equal([]);
  });
});
