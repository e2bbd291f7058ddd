import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { youngGenerationFlags } from '../../src/roles/young-generation.ts';

const MODULE = new URL('../../src/roles/young-generation.ts', import.meta.url).href;

/** Size of the young generation in bytes after many objects survived, in many turns of the event loop or in one. */
async function sizeAfterGrowth(
  limit: string,
  { turns = 'many', flags = [] }: { readonly turns?: 'many' | 'one'; readonly flags?: readonly string[] } = {},
): Promise<number> {
  const program = `
    const { getHeapSpaceStatistics } = await import('node:v8');
    const { beginLoading, endLoading, limitYoungGeneration } = await import('${MODULE}');
    ${limit}
    const kept = [];
    for (let turn = 0; turn < 200; turn++) {
      for (let i = 0; i < 10_000; i++) kept.push({ i, text: [i] });
      if (${turns === 'many'}) await new Promise((resolve) => setImmediate(resolve));
    }
    console.log(getHeapSpaceStatistics().find((each) => each.space_name === 'new_space').space_size);
  `;
  const args = ['--max-semi-space-size=64', ...flags, '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
}

describe('limitYoungGeneration', () => {
  it('stops its growth', async () => {
    expect(await sizeAfterGrowth('limitYoungGeneration([]);')).to.be.within(4_000_001, 20_000_000);
  });

  it('keeps it small until the event loop runs, or until it may grow', async () => {
    expect(await sizeAfterGrowth('limitYoungGeneration([]);', { turns: 'one' })).to.be.within(1, 4_000_000);
    const grown = await sizeAfterGrowth('limitYoungGeneration([]); beginLoading();', { turns: 'one' });
    expect(grown).to.be.greaterThan(8_000_000);
  });

  it('lets it grow further only while a configuration is loaded', async () => {
    expect(await sizeAfterGrowth('limitYoungGeneration([]); beginLoading();')).to.be.greaterThan(20_000_000);
    const ended = await sizeAfterGrowth('limitYoungGeneration([]); beginLoading(); endLoading();');
    expect(ended).to.be.within(4_000_001, 20_000_000);
  });

  it('has no effect if flags set the size', async () => {
    const size = await sizeAfterGrowth(`limitYoungGeneration(['--max-semi-space-size=64']);`);
    expect(size).to.be.greaterThan(20_000_000);
  });

  it('limits another process by its flags', async () => {
    expect(await sizeAfterGrowth('', { flags: youngGenerationFlags([]) })).to.be.within(1, 20_000_000);
    expect(youngGenerationFlags(['--max-semi-space-size=64'])).to.deep.equal([]);
    expect(youngGenerationFlags(['--max-old-space-size=512 --min_semi_space_size=2'])).to.deep.equal([]);
  });
});
