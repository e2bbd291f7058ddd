import { expect } from 'chai';
import type { LabelExpression } from '../../src/schema/route/matcher.ts';
import {
  expressionProblem,
  hasLabels,
  matchesSelector,
  satisfies,
  type LabelSelector,
} from '../../src/syntax/label-expression.ts';

const labels = { app: 'web', size: '10' };
const at = (operator: LabelExpression['operator'], key: string, ...values: string[]) => ({ key, operator, values });

describe('label expressions', () => {
  const cases: [LabelExpression, boolean][] = [
    [{ key: 'app', values: ['web'] }, true],
    [at('Equals', 'app', 'web'), true],
    [at('DoubleEquals', 'app', 'api'), false],
    [at('NotEquals', 'app', 'api'), true],
    [at('NotEquals', 'none', 'api'), true],
    [at('In', 'app', 'api', 'web'), true],
    [at('In', 'none', 'web'), false],
    [at('NotIn', 'app', 'api', 'web'), false],
    [at('NotIn', 'none', 'web'), true],
    [at('Exists', 'app'), true],
    [at('Exists', 'toString'), false],
    [at('DoesNotExist', 'app'), false],
    [at('GreaterThan', 'size', '9'), true],
    [at('GreaterThan', 'app', '9'), false],
    [at('LessThan', 'size', '9'), false],
    [at('LessThan', 'size', '11'), true],
  ];
  for (const [expression, expected] of cases) {
    it(`evaluates ${JSON.stringify(expression)} to ${expected}`, () => {
      expect(expressionProblem(expression)).to.equal(undefined);
      expect(satisfies(labels, expression)).to.equal(expected);
    });
  }

  const bad = [
    at('Equals', '', 'a'),
    at('Equals', 'app'),
    at('Equals', 'app', 'a', 'b'),
    at('In', 'app'),
    at('Exists', 'app', 'a'),
    at('GreaterThan', 'size', 'ten'),
    at('LessThan', 'size', '1e3'),
  ];
  for (const expression of bad) {
    it(`rejects ${JSON.stringify(expression)}`, () => expect(expressionProblem(expression)).to.be.a('string'));
  }

  it('requires every label, and reads none from the prototype', () => {
    expect(hasLabels(labels, { app: 'web' })).to.equal(true);
    expect(hasLabels(labels, { app: 'web', tier: 'x' })).to.equal(false);
    expect(hasLabels(labels, { constructor: 'x' })).to.equal(false);
    expect(hasLabels(labels, {})).to.equal(true);
  });
});

describe('a label selector', () => {
  const labels = { team: 'a' };
  const cases: readonly [LabelSelector, boolean][] = [
    [{}, true],
    [{ matchLabels: { team: 'a' } }, true],
    [{ matchLabels: { team: 'b' } }, false],
    [{ matchExpressions: [{ key: 'team', operator: 'In', values: ['a', 'b'] }] }, true],
    [{ matchExpressions: [{ key: 'env', operator: 'In', values: ['a'] }] }, false],
    [{ matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['a'] }] }, true],
    [{ matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }] }, false],
    [{ matchExpressions: [{ key: 'team', operator: 'Exists' }] }, true],
    [{ matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }, false],
    [{ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, false],
    [{ matchExpressions: [{ key: 'team', operator: 'Like' as 'In', values: ['a'] }] }, false],
  ];
  for (const [selector, expected] of cases) {
    it(`${JSON.stringify(selector)} ${expected ? 'matches' : 'does not match'}`, () => {
      expect(matchesSelector(labels, selector)).to.equal(expected);
    });
  }
});
