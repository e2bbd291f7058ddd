import { expect } from 'chai';
import { jsonLines } from '../../src/watch/json-lines.ts';

async function read(chunks: readonly string[], maxLineBytes = 20): Promise<unknown[][]> {
  async function* stream() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const batches: unknown[][] = [];
  for await (const batch of jsonLines(stream(), maxLineBytes)) batches.push(batch);
  return batches;
}

describe('lines of JSON', () => {
  it('are joined from chunks, in batches that arrived together', async () => {
    expect(await read(['{"a":1}\n{"b"', ':2', '}\n\n{"c":3}\n', '{"open":'])).to.deep.equal([
      [{ a: 1 }],
      [{ b: 2 }, { c: 3 }],
    ]);
  });

  it('are rejected if one is too large, whatever the size of all', async () => {
    const halves = Array.from({ length: 20 }, () => ['{"a":', '1}\n']).flat();
    expect(await read(halves)).to.have.length(20);
    const error = await read(['{"a":"', 'x'.repeat(10), 'x'.repeat(10)]).catch((caught: Error) => caught.message);
    expect(error).to.equal('an event is larger than 20 bytes');
  });
});
