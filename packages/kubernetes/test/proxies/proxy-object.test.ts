import type { Resource } from '@edge-gateway/core';
import { expect } from 'chai';
import { digestOf, isManaged, proxyObject } from '../../src/proxies/proxy-object.ts';

const proxy = (spec: object, metadata: object = {}): Resource =>
  ({
    apiVersion: 'gw.vendor.io/v1',
    kind: 'Proxy',
    metadata: {
      name: 'gateway-proxy',
      namespace: 'gw-system',
      labels: { app: 'gw' },
      annotations: { a: 'b' },
      ...metadata,
    },
    spec,
  }) as unknown as Resource;

describe('the object of a Proxy', () => {
  it('has the spec without secret values, and no other metadata', () => {
    const spec = { listeners: [{ options: { password: 'MARKER', name: 'a' } }] };
    expect(proxyObject(proxy(spec))).to.deep.equal({
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Proxy',
      metadata: { name: 'gateway-proxy', namespace: 'gw-system', labels: { app: 'gw' } },
      spec: { listeners: [{ options: { password: '<redacted>', name: 'a' } }] },
    });
  });

  it('has another digest with another spec or other labels', () => {
    const same = [proxy({ a: 1 }), proxy({ a: 1 }), proxy({ a: 2 }), proxy({ a: 1 }, { labels: {} })].map(digestOf);
    expect(same[1]).to.equal(same[0]);
    expect(new Set(same).size).to.equal(3);
  });

  it('belongs to the field managers that wrote a part of it', () => {
    const managed = (managedFields: unknown) =>
      isManaged({ name: 'a', managedFields } as Parameters<typeof isManaged>[0], 'gateway');
    expect(managed([{ manager: 'kubectl' }, { manager: 'gateway' }])).to.equal(true);
    for (const fields of [[{ manager: 'kubectl' }], [null], [], undefined, 'gateway'])
      expect(managed(fields)).to.equal(false);
  });
});
