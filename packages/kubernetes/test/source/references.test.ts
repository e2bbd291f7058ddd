import { KINDS } from '@edge-gateway/core';
import { expect } from 'chai';
import { createReferenceIndex, referencedKind, referencesOf } from '../../src/source/references.ts';
import type { ClusterObject } from '../../src/watch/cluster-object.ts';

const object = (spec: unknown): ClusterObject => ({ metadata: { name: 'a', namespace: 'shop' }, spec });

/** Returns the fields of all kinds that refer to a Secret or ConfigMap, by their description. */
function describedFields(): Map<string, 'Secret' | 'ConfigMap'> {
  const found = new Map<string, 'Secret' | 'ConfigMap'>();
  const seen = new Set<unknown>();
  const visit = (schema: unknown, field: string): void => {
    if (typeof schema !== 'object' || schema === null || seen.has(schema)) return;
    seen.add(schema);
    const { title, description, items, properties } = schema as Record<string, any>;
    const kind = /^(?:The )?(Secret|ConfigMap)s?\b/.exec(description ?? '')?.[1];
    const isReference = title === 'Ref' || properties?.name !== undefined || items !== undefined;
    if (kind && isReference) found.set(field, kind as 'Secret' | 'ConfigMap');
    for (const [name, value] of Object.entries(schema)) {
      if (name === 'properties') for (const [inner, one] of Object.entries(value as object)) visit(one, inner);
      else visit(value, field);
    }
  };
  for (const { schema, kind } of KINDS.values()) if (kind !== 'Secret' && kind !== 'ConfigMap') visit(schema, '');
  return found;
}

describe('the references of an object', () => {
  it('include every field that the schemas describe as one', () => {
    const fields = describedFields();
    expect([...fields.keys()]).to.include.members([
      'secretRef',
      'clientSecretRef',
      'keyRef',
      'modules',
      'configMapRef',
    ]);
    const unknown = [...fields].filter(([field, kind]) => referencedKind(field) !== kind);
    expect(unknown).to.deep.equal([]);
  });

  const cases: readonly [string, unknown, object | undefined][] = [
    ['a reference with a namespace', { sslConfig: { secretRef: { name: 's', namespace: 'n' } } }, { Secret: ['n/s'] }],
    [
      'a reference without a namespace, which may be the default one',
      { secretRef: { name: 's' } },
      { Secret: ['shop/s', 'gw-system/s'] },
    ],
    [
      'no names that would become parts of a path',
      { secretRef: { name: 'a/b' }, other: { secretRef: { name: 's', namespace: 'n/..' } } },
      undefined,
    ],
    [
      'lists of references',
      {
        secretRefs: {
          secretRefs: [
            { name: 'a', namespace: 'n' },
            { name: 'b', namespace: 'n' },
          ],
        },
      },
      { Secret: ['n/a', 'n/b'] },
    ],
    ['ConfigMaps', { configMapRef: { name: 'c', namespace: 'n' } }, { ConfigMap: ['n/c'] }],
    ['no upstreams', { single: { upstream: { name: 'u', namespace: 'n' } } }, undefined],
    ['no names in text', { secretRef: 'text', keyRef: [1, null] }, undefined],
    ['no names that are not text', { secretRef: { name: { name: 'x' } } }, undefined],
  ];
  for (const [title, spec, keys] of cases) {
    it(`are ${title}`, () => {
      const found = referencesOf(object(spec));
      expect(found?.keys).to.deep.equal(keys && { Secret: [], ConfigMap: [], ...keys });
    });
  }

  it('are found in a value that is nested too deeply without an error', () => {
    let spec: unknown = { secretRef: { name: 's', namespace: 'n' } };
    for (let depth = 0; depth < 10_000; depth++) spec = [spec];
    expect(referencesOf(object(spec))).to.equal(undefined);
  });

  it('include label selectors, but not an empty one', () => {
    expect(referencesOf(object({ apiKeyAuth: { labelSelector: { team: 'a' } } }))?.selectors).to.deep.equal([
      { team: 'a' },
    ]);
    expect(referencesOf(object({ apiKeyAuth: { labelSelector: {} } }))).to.equal(undefined);
  });
});

describe('the index of references', () => {
  it('forgets a reference with its last object', () => {
    const index = createReferenceIndex();
    const references = referencesOf(object({ secretRef: { name: 's', namespace: 'n' } }));
    expect(index.set('a', references)).to.equal(true);
    expect(index.set('a', references)).to.equal(false);
    index.set('b', references);
    index.set('a', undefined);
    expect(index.isWanted('Secret', 'n/s', {})).to.equal(true);
    index.set('b', undefined);
    expect(index.isWanted('Secret', 'n/s', {})).to.equal(false);
  });

  it('selects Secrets with all labels, and no ConfigMaps', () => {
    const index = createReferenceIndex();
    index.set('a', referencesOf(object({ labelSelector: { team: 'a', env: 'b' } })));
    expect(index.isWanted('Secret', 'n/s', { team: 'a', env: 'b', more: 'c' })).to.equal(true);
    expect(index.isWanted('Secret', 'n/s', { team: 'a' })).to.equal(false);
    expect(index.isWanted('ConfigMap', 'n/s', { team: 'a', env: 'b' })).to.equal(false);
  });

  it('always contains the key that signs cookies', () => {
    expect([...createReferenceIndex().named('Secret')]).to.deep.equal(['gw-system/extauth-signing-key']);
  });
});
