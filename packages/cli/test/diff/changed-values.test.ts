import { expect } from 'chai';
import { changedValues, changeText } from '../../src/diff/changed-values.ts';

describe('changedValues', () => {
  it('finds the innermost values that differ, whatever the order of keys', () => {
    const before = { policies: { x: { claims: { email: 'admin' } } }, gone: true, same: { a: 1, b: 2 } };
    const after = { same: { b: 2, a: 1 }, policies: { x: { claims: { email: 'boss' } } }, added: [1] };
    expect(changedValues(['options'], before, after)).to.deep.equal([
      { path: ['options', 'policies', 'x', 'claims', 'email'], before: 'admin', after: 'boss' },
      { path: ['options', 'gone'], before: true, after: undefined },
      { path: ['options', 'added'], before: undefined, after: [1] },
    ]);
  });

  it('reports an inserted item of a list alone', () => {
    expect(changedValues(['domains'], ['a', 'b'], ['a', 'x', 'b'])).to.deep.equal([
      { path: ['domains', 1], before: undefined, after: 'x' },
    ]);
    expect(changedValues(['domains'], ['a', 'a'], ['a'])).to.deep.equal([
      { path: ['domains', 1], before: 'a', after: undefined },
    ]);
    expect(changedValues(['list'], [{ a: 1 }, { b: 1 }], [{ a: 1 }, { b: 2 }])).to.deep.equal([
      { path: ['list', 1, 'b'], before: 1, after: 2 },
    ]);
  });
});

describe('changeText', () => {
  it('shows long texts from where they differ', () => {
    const text = changeText(`${'a'.repeat(500)}b${'c'.repeat(500)}`, `${'a'.repeat(500)}d`);
    expect(text).to.equal(`…${'a'.repeat(40)}b${'c'.repeat(159)}… -> …${'a'.repeat(40)}d`);
    expect(changeText('"a"', 'nothing')).to.equal('"a" -> nothing');
  });
});
