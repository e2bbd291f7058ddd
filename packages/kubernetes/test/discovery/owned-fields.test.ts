import { expect } from 'chai';
import { ownedFields, withParents } from '../../src/discovery/owned-fields.ts';

describe('the fields of an object by their owner', () => {
  it('are own if the manager applied them, and foreign if it, or another, wrote them otherwise', () => {
    const fieldsV1 = { 'f:spec': { '.': {}, 'f:kube': { 'f:servicePort': {} } } };
    const entry = (more: object) => [{ manager: 'm', operation: 'Apply', fieldsV1, ...more }];
    const shown = (entries: unknown) => {
      const { own, foreign } = ownedFields(entries, 'm');
      return [[...own], [...foreign]];
    };
    expect(shown(entry({}))).to.deep.equal([['spec/kube/servicePort'], []]);
    expect(shown(entry({ operation: 'Update' }))).to.deep.equal([[], ['spec/kube/servicePort']]);
    expect(shown(entry({ manager: 'other' }))).to.deep.equal([[], ['spec/kube/servicePort']]);
    expect(shown(entry({ manager: 'other', subresource: 'status' }))).to.deep.equal([[], []]);
    expect(shown(undefined)).to.deep.equal([[], []]);
  });

  it('have escaped keys', () => {
    const fieldsV1 = { 'f:metadata': { 'f:labels': { 'f:a.io/b~c': {} } } };
    const { own } = ownedFields([{ manager: 'm', operation: 'Apply', fieldsV1 }], 'm');
    expect([...own]).to.deep.equal(['metadata/labels/a.io~1b~0c']);
  });

  it('are known with all fields around them', () => {
    const all = withParents(new Set(['spec/kube/a~1b', 'spec/kube/c', 'spec', 'metadata/labels/']));
    expect([...all].sort()).to.deep.equal([
      'metadata',
      'metadata/labels',
      'metadata/labels/',
      'spec',
      'spec/kube',
      'spec/kube/a~1b',
      'spec/kube/c',
    ]);
  });
});
