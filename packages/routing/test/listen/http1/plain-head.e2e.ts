import { expect } from 'chai';
import { frontDifferences } from './front-differences.ts';
import { readDifferences } from './read-differences.ts';

describe('plain requests compared with node:http', () => {
  it('accepts nothing that node:http or the checks read differently, in 1,000,000 random requests', async function () {
    this.timeout(1_800_000);
    const { plain, differences } = await readDifferences(2, 1_000_000);
    expect(differences).to.deep.equal([]);
    expect(plain).to.be.greaterThan(200_000);
  });

  it('serves 20,000 random connections as node:http does', async function () {
    this.timeout(1_800_000);
    expect(await frontDifferences(2, 20_000)).to.deep.equal([]);
  });
});
