import { expect } from 'chai';
import { createConnectionBudget } from '../../src/listen/open-files.ts';

describe('the budget of connections', () => {
  it('is half of the files that are not reserved', () => {
    const budget = createConnectionBudget(264);
    expect(budget.free()).to.equal(100);
    for (let i = 0; i < 100; i++) budget.acquire();
    expect(budget.free()).to.equal(0);
    budget.release();
    expect(budget.free()).to.equal(1);
  });

  it('allows one connection below the reserve', () => {
    expect(createConnectionBudget(10).free()).to.equal(1);
  });

  it('is never negative, although the last connections arrive at the same time', () => {
    const budget = createConnectionBudget(10);
    budget.acquire();
    budget.acquire();
    expect(budget.free()).to.equal(0);
  });

  it('is that of this process by default', () => {
    expect(createConnectionBudget().free()).to.be.greaterThan(100);
  });
});
