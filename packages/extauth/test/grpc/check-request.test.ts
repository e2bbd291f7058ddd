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
    expect(plain.source).not.to.have.property('principal');
    expect(plain).not.to.have.property('tlsSession');
  });

  it('sends the length of the request, and whether the body is only its beginning', () => {
    const body = Buffer.from('abc');
    const forged = () => ['x-envoy-auth-partial-body', 'false', 'content-length', '1', 'host', 'other'];
    const request = { ...REQUEST, headers: forged, contentLength: '12' };
    const partial = checkRequestOf({ ...request, body, isPartialBody: true }, DETAILS).attributes.request.http;
    expect(partial).to.include({ body: 'abc', size: 12 });
    expect(partial.headers).to.include({ 'content-length': '12', 'x-envoy-auth-partial-body': 'true' });
    expect(partial.headers).not.to.have.property('host');
    const none = checkRequestOf(request, DETAILS).attributes.request.http;
    expect([none.size, none.body, none.headers['x-envoy-auth-partial-body']]).to.deep.equal([0, undefined, undefined]);
  });

  for (const [title, bytes, text] of [
    ['a byte that no character begins with', [0x61, 0xff, 0x62], 'a!b'],
    ['a character that is cut off at the end', [0x61, 0xe2, 0x82], 'a!!'],
    ['a surrogate', [0xed, 0xa0, 0x80], '!!!'],
    ['an overlong form', [0xc0, 0xaf], '!!'],
    ['a valid character after an invalid one', [0xe2, 0xc3, 0xa9], '!é'],
    ['a character of four bytes', [0xf0, 0x9f, 0x98, 0x80], '😀'],
  ] as const) {
    it(`sends a body as text with ${title}`, () => {
      const { http } = checkRequestOf({ ...REQUEST, body: Buffer.from(bytes) }, DETAILS).attributes.request;
      expect(http.body).to.equal(text);
    });
  }
});
