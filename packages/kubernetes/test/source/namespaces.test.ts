import { expect } from 'chai';
import { matchesLabels, namespaceChoice } from '../../src/source/namespaces.ts';

const settings = (spec: unknown) => ({ metadata: { name: 'default' }, spec });

describe('the namespaces that Settings choose', () => {
  it('are all by default', () => {
    expect(namespaceChoice(undefined)).to.deep.equal({ all: true });
    expect(namespaceChoice(settings({ watchNamespaces: [] }))).to.deep.equal({ all: true });
    expect(namespaceChoice(settings('broken'))).to.deep.equal({ all: true });
  });

  it('always include the write namespace', () => {
    const choice = namespaceChoice(settings({ watchNamespaces: ['shop', 'shop'], discoveryNamespace: 'edge' }));
    expect(choice).to.deep.equal({ names: ['edge', 'gw-system', 'shop'] });
  });

  it('are named ones before selectors', () => {
    const choice = namespaceChoice(settings({ watchNamespaces: ['a'], watchNamespaceSelectors: [{}] }));
    expect(choice).to.deep.equal({ names: ['a', 'gw-system'] });
  });
});

describe('a label selector', () => {
  const labels = { team: 'a' };
  const cases: readonly [object, boolean][] = [
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
    [{ matchExpressions: [{ key: 'team', operator: 'Like', values: ['a'] }] }, false],
  ];
  for (const [selector, expected] of cases) {
    it(`${JSON.stringify(selector)} ${expected ? 'matches' : 'does not match'}`, () => {
      expect(matchesLabels(selector, labels)).to.equal(expected);
    });
  }
});
