import { expect } from 'chai';
import { createGroupMemory } from '../../src/groups/memory.ts';

describe('the memory of groups', () => {
  it('is bounded by all ids together; what was unused for longest goes first', () => {
    let now = 0;
    const memory = createGroupMemory(() => now, 10);
    memory.set('a', ['1', '2', '3'], 100);
    memory.set('b', ['1', '2'], 100);
    memory.get('a');
    memory.set('c', ['1', '2', '3', '4'], 50);
    expect(['a', 'b', 'c'].map((key) => memory.get(key)?.length)).to.deep.equal([3, undefined, 4]);
    memory.set('c', [], 50);
    expect(memory.get('c')).to.deep.equal([]);
    now = 50;
    expect(memory.get('c')).to.equal(undefined);
    memory.set('d', ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'], 100);
    expect([memory.get('a'), memory.get('d')]).to.deep.equal([undefined, undefined]);
  });
});
