import { expect } from 'chai';
import { createGroupMemory } from '../../src/groups/memory.ts';

describe('the memory of groups', () => {
  it('is bounded by the total number of ids: the least recently used entry is evicted first', () => {
    let now = 1;
    const memory = createGroupMemory(() => now, 10);
    memory.set('a', ['1', '2', '3'], 100);
    memory.set('b', ['1', '2'], 100);
    memory.get('a');
    memory.set('c', ['1', '2', '3', '4'], 50);
    expect(['a', 'b', 'c'].map((key) => memory.get(key)?.length)).to.deep.equal([3, undefined, 4]);
    memory.set('c', [], 50);
    expect(memory.get('c')).to.deep.equal([]);
    now = 51;
    expect(memory.get('c')).to.equal(undefined);
    memory.set('d', ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'], 100);
    expect(memory.get('d'), 'larger than the memory').to.equal(undefined);
    expect(memory.get('a')).to.have.length(3);
    now = 102;
    expect(memory.get('a')).to.equal(undefined);
  });
});
