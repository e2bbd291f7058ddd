import { expect } from 'chai';
import type { AuthRequest } from '@edge-gateway/core';
import { checkRequestOf } from '../../src/grpc/check-request.ts';

const REQUEST: AuthRequest = {
  requestId: 'id-1',
  method: 'GET',
  scheme: 'https',
  host: 'pets.example.com',
  path: '/api/pets?x=1',
  header: () => undefined,
  headers: () => ['constructor', 'c', 'cookie', 'a=1', 'cookie', 'b=2', 'x-list', '1', 'x-list', '2'],
  clientAddress: '203.0.113.7',
  state: {},
  metadata: new Map(),
};
const DETAILS = { contextExtensions: { team: 'a' }, metadata: new Map([['ns', { sub: 'alice' }]]), time: 1500 };

describe('checkRequestOf', () => {
  it('joins headers of one name, and adds the pseudo-headers', () => {
    const { headers } = checkRequestOf(REQUEST, DETAILS).attributes.request.http;
    expect({ ...headers }).to.deep.equal({
      ':authority': 'pets.example.com',
      ':method': 'GET',
      ':path': '/api/pets?x=1',
      ':scheme': 'https',
      constructor: 'c',
      cookie: 'a=1; b=2',
      'x-list': '1,2',
    });
  });

  it('sends extensions, metadata and the time', () => {
    const { contextExtensions, metadataContext, request } = checkRequestOf(REQUEST, DETAILS).attributes;
    expect(contextExtensions).to.deep.equal({ team: 'a' });
    expect(metadataContext.filterMetadata).to.deep.equal({ ns: { fields: { sub: { stringValue: 'alice' } } } });
    expect(request.time).to.deep.equal({ seconds: 1, nanos: 500_000_000 });
  });

  it('sends the names of a TLS connection, and no session without TLS', () => {
    const tls = () => ({ serverName: 'pets.example.com', client: 'spiffe://a/b', server: 'pets.example.com' });
    const { source, destination, tlsSession } = checkRequestOf({ ...REQUEST, tls }, DETAILS).attributes;
    expect([source.principal, destination.principal, tlsSession]).to.deep.equal([
      'spiffe://a/b',
      'pets.example.com',
      { sni: 'pets.example.com' },
    ]);
    const plain = checkRequestOf({ ...REQUEST, tls: () => undefined }, DETAILS).attributes;
    expect(plain.source.principal).to.equal('');
    expect(plain).not.to.have.property('tlsSession');
  });
});
