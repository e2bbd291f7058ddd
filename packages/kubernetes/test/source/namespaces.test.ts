import { expect } from 'chai';
import { namespaceChoice } from '../../src/source/namespaces.ts';

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

  it('are all if one of the names is empty', () => {
    expect(namespaceChoice(settings({ watchNamespaces: ['', 'a'] }))).to.deep.equal({ all: true });
  });

  it('are those that a selector matches, the write namespace and that of the Settings', () => {
    const choice = namespaceChoice(
      settings({ watchNamespaceSelectors: [{ matchLabels: { team: 'a' } }], discoveryNamespace: 'edge' }),
    );
    const isWatched = 'isWatched' in choice ? choice.isWatched : undefined;
    expect([isWatched?.('shop', { team: 'a' }), isWatched?.('shop', { team: 'b' })]).to.deep.equal([true, false]);
    expect([isWatched?.('edge', {}), isWatched?.('gw-system', {})]).to.deep.equal([true, true]);
  });

  it('are all if the fields have another type', () => {
    const spec = { watchNamespaces: 5, watchNamespaceSelectors: 'a', discoveryNamespace: 1 };
    expect(namespaceChoice(settings(spec))).to.deep.equal({ all: true });
  });
});
