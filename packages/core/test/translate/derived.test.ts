import { expect } from 'chai';
import { Derived } from '../../src/translate/derived.ts';

const join = (source: { name: string }, first: string, second: boolean | undefined) => ({
  text: `${source.name} ${first} ${second}`,
});

describe('derived results', () => {
  it('are the same object for the same source and context', () => {
    const derived = new Derived();
    const source = { name: 'a' };
    const result = derived.of(join, source, 'x', true);
    expect(derived.of(join, source, 'x', true)).to.equal(result);
    expect(derived.of(join, { name: 'a' }, 'x', true)).not.to.equal(result);
  });

  it('are derived again if any value of the context changes', () => {
    const derived = new Derived();
    const source = { name: 'a' };
    expect(derived.of(join, source, 'x', true).text).to.equal('a x true');
    expect(derived.of(join, source, 'y', true).text).to.equal('a y true');
    expect(derived.of(join, source, 'y', false).text).to.equal('a y false');
    expect(derived.of(join, source, 'y', undefined).text).to.equal('a y undefined');
  });

  it('are known in a fork, which does not change them', () => {
    const derived = new Derived();
    const [source, other] = [{ name: 'a' }, { name: 'b' }];
    const result = derived.of(join, source, 'x', true);
    const fork = derived.fork();
    expect(fork.of(join, source, 'x', true)).to.equal(result);
    const changed = fork.of(join, source, 'y', true);
    expect(fork.of(join, source, 'y', true)).to.equal(changed);
    expect(fork.of(join, source, 'x', true)).to.equal(result);
    expect(derived.of(join, source, 'x', true)).to.equal(result);
    const added = fork.of(join, other, 'x', true);
    expect(derived.of(join, other, 'x', true)).not.to.equal(added);
  });

  it('do not depend on results of other functions', () => {
    const derived = new Derived();
    const source = { name: 'a' };
    derived.of(join, source, 'x', true);
    expect(derived.of((each: object) => each, source)).to.equal(source);
  });
});
