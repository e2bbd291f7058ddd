import { expect } from 'chai';
import { frontDifferences } from './front-differences.ts';

describe('listeners with both parsers of HTTP/1.1', () => {
  it('serve the same requests and responses on 400 random connections, and short requests in any two parts', async () => {
    expect(await frontDifferences(1, 400)).to.deep.equal([]);
  });
});
