import { expect } from 'chai';
import { removeHeader, removeWhere, setHeader } from '../../src/http1/flat-headers.ts';

describe('flat headers', () => {
  const headers = (): string[] => ['A', '1', 'b', '2', 'a', '3', 'C', '4', 'a', '5'];

  it('sets a header at the position of its first value', () => {
    const flat = headers();
    setHeader(flat, 'a', 'x');
    expect(flat).to.deep.equal(['a', 'x', 'b', '2', 'C', '4']);
  });

  it('sets a header that appears once, or not', () => {
    const flat = headers();
    setHeader(flat, 'b', 'x');
    expect(flat).to.deep.equal(['A', '1', 'b', 'x', 'a', '3', 'C', '4', 'a', '5']);
    setHeader(flat, 'd', 'y');
    expect(flat).to.deep.equal(['A', '1', 'b', 'x', 'a', '3', 'C', '4', 'a', '5', 'd', 'y']);
  });

  it('removes every value of a header', () => {
    const flat = headers();
    removeHeader(flat, 'a');
    expect(flat).to.deep.equal(['b', '2', 'C', '4']);
    removeHeader(flat, 'a');
    expect(flat).to.deep.equal(['b', '2', 'C', '4']);
  });

  it('removes headers by a condition', () => {
    const flat = headers();
    removeWhere(flat, (name) => name !== 'C');
    expect(flat).to.deep.equal(['C', '4']);
  });
});
