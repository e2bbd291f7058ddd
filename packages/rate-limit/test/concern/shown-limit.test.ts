import type { IncomingMessage } from 'node:http';
import { factsOf } from '@edge-gateway/core';
import { expect } from 'chai';
import { showLimit } from '../../src/concern/shown-limit.ts';

const limitOf = (remaining: number, isOver = false) => ({
  isOver,
  remaining,
  resetMs: 1000,
  limit: `limit ${remaining}`,
  resetSeconds: 1,
});
const shownBy = (...limits: ReturnType<typeof limitOf>[]) => {
  const facts = factsOf({ url: '/', method: 'GET' } as IncomingMessage);
  facts.responseChanges.push({ op: 'set', name: 'x-other', value: 'kept' });
  for (const each of limits) showLimit(facts, each);
  return facts.responseChanges.map((change) => `${change.name}: ${'value' in change ? change.value : ''}`);
};

describe('the limit that a response states', () => {
  const strict = ['x-other: kept', 'x-ratelimit-limit: limit 2', 'x-ratelimit-remaining: 2', 'x-ratelimit-reset: 1'];

  it('is the stricter one, whichever comes first', () => {
    expect(shownBy(limitOf(2), limitOf(5))).to.deep.equal(strict);
    expect(shownBy(limitOf(5), limitOf(2))).to.deep.equal(strict);
  });

  it('is one that is over before one that has less left', () => {
    expect(shownBy(limitOf(2, true), limitOf(0))).to.deep.equal(strict);
  });

  it('does not grow with the operations of a connection', () => {
    expect(shownBy(...Array.from({ length: 100 }, (_each, i) => limitOf(101 - i)))).to.have.length(4);
  });
});
