import type { Snapshot } from '@edge-gateway/core';
import { expect } from 'chai';
import { compareServed, partsOf } from '../src/comparison.ts';

const REF = { name: 'todos', namespace: 'gw-system' };

/** A virtual host with one GraphQLApi, as far as a comparison looks at it. */
function served(api: object): Snapshot {
  const host = { name: 'gw-system.shop', domains: ['*'], options: {}, routes: [], graphqlApis: [api] };
  const listener = { name: 'listener', virtualHosts: [host] };
  return { proxy: 'gateway-proxy', listeners: [listener], upstreams: [], settings: {} } as unknown as Snapshot;
}

describe('compareServed', () => {
  const spec = { executableSchema: { executor: { remote: {} } } };
  const api = { ref: REF, spec, subschemas: [] };
  const changes = (after: object) => partsOf(compareServed([served(api)], [served(after)])).map(({ name }) => name);

  it('leaves out what the server of a GraphQLApi told of itself', () => {
    const serverSchema = 'type Query { todo: String }';
    expect(changes({ ...api, serverSchema })).to.deep.equal([]);
    expect(changes({ ...api, subschemas: [{ ...api, serverSchema }] })).to.have.length(1);
  });

  it('finds what was written', () => {
    expect(changes({ ...api, spec: { ...spec, statPrefix: 'other' } })).to.deep.equal(['listener/gw-system.shop']);
    expect(changes({ ...api, spec: { ...spec, serverSchema: 'written' } })).to.deep.equal(['listener/gw-system.shop']);
  });
});
