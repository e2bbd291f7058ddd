import { expect } from 'chai';
import { toStruct } from '@edge-gateway/core/grpc';
import { authorization } from '../../src/grpc/protocol.ts';
import { authRequestOfCheck, configIdOf, type ArrivedCheck } from '../../src/service/check-input.ts';

const { signal } = new AbortController();
const http = { id: '7', method: 'GET', path: '/', host: 'a.example.com', scheme: 'https' };
const check = (more: object = {}, attributes: object = {}): ArrivedCheck =>
  ({ attributes: { request: { http: { ...http, ...more } }, ...attributes } }) as ArrivedCheck;
const read = (more?: object, attributes?: object) => authRequestOfCheck(check(more, attributes), signal);

describe('the request in a check', () => {
  it('has method, host, path, headers, addresses and certificates of the client', () => {
    const request = read(
      {
        method: 'post',
        path: '/a?b=1',
        headers: { ':path': '/other', 'X-A': '1', cookie: 'a=1; b=2' },
        protocol: 'HTTP/2',
      },
      {
        source: {
          address: { socketAddress: { address: '::ffff:10.0.0.1', portValue: 4000 } },
          principal: 'spiffe://a',
        },
        destination: { address: { socketAddress: { address: '10.0.0.2', portValue: 443 } }, principal: 'app' },
        tlsSession: { sni: 'a.example.com' },
      },
    );
    expect(request).to.include({
      requestId: '7',
      method: 'POST',
      path: '/a?b=1',
      host: 'a.example.com',
      scheme: 'https',
      clientAddress: '10.0.0.1',
    });
    expect(request.headers()).to.deep.equal(['x-a', '1', 'cookie', 'a=1; b=2']);
    expect(request.header('X-A')).to.equal('1');
    expect(request.connection).to.deep.equal({
      clientAddress: '10.0.0.1',
      clientPort: 4000,
      scheme: 'https',
      protocol: 'HTTP/2',
      localAddress: '10.0.0.2',
      localPort: 443,
    });
    expect(request.tls?.()).to.deep.equal({ serverName: 'a.example.com', client: 'spiffe://a', server: 'app' });
  });

  it('keeps each value of raw headers', () => {
    const headers = [
      { key: 'x-a', value: '', rawValue: Buffer.from([0xe9]) },
      { key: 'X-A', value: '2' },
      { key: ':authority', value: 'raw.example.com' },
    ];
    const request = read({ headerMap: { headers }, host: '' });
    expect(request.headers()).to.deep.equal(['x-a', '\u00e9', 'x-a', '2']);
    expect(request.header('x-a')).to.equal('\u00e9, 2');
    expect(request.host).to.equal('raw.example.com');
  });

  it('joins the values of a header, and cookies with a semicolon', () => {
    const headers = ['x-a', 'cookie', 'x-a', 'cookie'].map((key, i) => ({ key, value: `v=${i}` }));
    const request = read({ headerMap: { headers } });
    expect([request.header('x-a'), request.header('cookie')]).to.deep.equal(['v=0, v=2', 'v=1; v=3']);
  });

  it('has the bytes of text that is not ASCII', () => {
    const request = read({ headers: { 'x-name': 'é' }, path: '/é' });
    expect(request.header('x-name')).to.equal('\u00c3\u00a9');
    expect(request.path).to.equal('/\u00c3\u00a9');
  });

  it('has the body, as text or as bytes', () => {
    expect(read({ body: 'é' })).to.deep.include({ body: Buffer.from('é') });
    const raw = read({ rawBody: Buffer.from([0, 255]) });
    expect(raw).to.deep.include({ body: Buffer.from([0, 255]), packAsBytes: true });
    expect(read()).not.to.have.any.keys('body', 'packAsBytes');
  });

  it('has the metadata by namespace', () => {
    const filterMetadata = { 'envoy.filters.http.jwt_authn': toStruct({ provider: { sub: 'alice', n: [1, null] } }) };
    const { Check } = authorization().service;
    const bytes = Check!.requestSerialize(check({}, { metadataContext: { filterMetadata } }));
    const request = authRequestOfCheck(Check!.requestDeserialize(bytes) as ArrivedCheck, signal);
    expect(request.metadata.get('envoy.filters.http.jwt_authn')).to.deep.equal({
      provider: { sub: 'alice', n: [1, null] },
    });
  });

  for (const [what, bad] of [
    ['no attributes', {}],
    ['empty attributes', { attributes: null }],
    ['no request', { attributes: { request: null } }],
    ['no HTTP request', { attributes: { request: { http: null } } }],
    ['no method', check({ method: '' })],
    ['a method with a space', check({ method: 'GET /' })],
    ['no path', check({ path: '' })],
    ['a path without slash', check({ path: 'private' })],
    ['the path of OPTIONS *', check({ method: 'OPTIONS', path: '*' })],
    ['an absolute URL', check({ path: 'http://other.example.com/' })],
    ['a header with a line break', check({ headers: { 'x-a': '1\r\nx-b: 2' } })],
    ['a header with a NUL', check({ headers: { 'x-a': '\0' } })],
    ['an invalid header name', check({ headers: { 'x a': '1' } })],
    ['an empty header name', check({ headers: { '': '1' } })],
  ] as const) {
    it(`is rejected with 400: ${what}`, () => {
      expect(() => authRequestOfCheck(bad as ArrivedCheck, signal))
        .to.throw()
        .that.includes({ code: 'ERR_EXTAUTH_REQUEST', status: 400 });
    });
  }

  it('names its AuthConfig only in its own context extension', () => {
    expect(configIdOf(check({}, { contextExtensions: { config_id: 'n.a' } }))).to.equal('n.a');
    expect(configIdOf(check({ headers: { config_id: 'n.a', 'x-config-id': 'n.a' } }))).to.equal('');
    expect(configIdOf(check({}, { contextExtensions: Object.create({ config_id: 'n.a' }) }))).to.equal('');
    expect(configIdOf({})).to.equal('');
  });
});
