import { expect } from 'chai';
import { checkTunnelAuthority, connectHead, requestHead, withoutFraming } from '../../src/http1/request-head.ts';

const HOST = '127.0.0.1:80';
const line = { method: 'GET', path: '/a?b=c', headers: ['Host', 'a.example'] };

describe('the head of a request', () => {
  it('has names, values and order as they are given', () => {
    const headers = ['X-B', '1', 'host', 'a', 'x-b', '', 'X-ü'.slice(0, 2) + 'u', '\xfc\t!'];
    expect(requestHead({ ...line, headers }, HOST, undefined)).to.equal(
      'GET /a?b=c HTTP/1.1\r\nX-B: 1\r\nhost: a\r\nx-b: \r\nX-u: \xfc\t!\r\n\r\n',
    );
  });

  it('names the endpoint if there is no host', () => {
    expect(requestHead({ ...line, headers: [] }, HOST, undefined)).to.equal(
      'GET /a?b=c HTTP/1.1\r\nhost: 127.0.0.1:80\r\n\r\n',
    );
  });

  it('contains only its own framing headers', () => {
    const headers = [
      'host',
      'a',
      'Content-Length',
      '9',
      'Transfer-Encoding',
      'chunked',
      'Expect',
      '100-continue',
      'TE',
      'x',
    ];
    const framed = (framing: number | 'chunked' | undefined, method = 'GET') =>
      requestHead({ ...line, headers, method }, HOST, framing)
        .split('\r\n')
        .slice(1);
    expect(framed(undefined)).to.deep.equal(['host: a', '', '']);
    expect(framed(0)).to.deep.equal(['host: a', 'content-length: 0', '', '']);
    expect(framed(12)).to.deep.equal(['host: a', 'content-length: 12', '', '']);
    expect(framed('chunked')).to.deep.equal(['host: a', 'transfer-encoding: chunked', '', '']);
    for (const method of ['POST', 'PUT', 'PATCH']) {
      expect(framed(undefined, method)).to.deep.equal(['host: a', 'content-length: 0', '', '']);
    }
  });

  it('keeps Trailer only for a chunked request whose trailers are sent', () => {
    const withTrailer = { ...line, headers: ['host', 'a', 'trailer', 'x'] };
    expect(requestHead({ ...withTrailer, sendsTrailers: true }, HOST, 'chunked')).to.include('\r\ntrailer: x\r\n');
    expect(requestHead({ ...withTrailer, sendsTrailers: true }, HOST, 5)).to.not.include('trailer');
    expect(requestHead(withTrailer, HOST, 'chunked')).to.not.include('trailer');
  });

  it('announces trailers, with the matching Connection field', () => {
    const head = requestHead({ ...line, headers: ['host', 'a', 'te', 'trailers', 'x', '1'] }, HOST, undefined);
    expect(head).to.equal('GET /a?b=c HTTP/1.1\r\nhost: a\r\nte: trailers\r\nconnection: TE\r\nx: 1\r\n\r\n');
  });

  const BAD: Readonly<Record<string, object>> = {
    'a method with a blank': { method: 'GET /' },
    'no method': { method: '' },
    'a path with a blank': { path: '/a b' },
    'a path with a line break': { path: '/a\r\nx: y' },
    'a path with a delete character': { path: '/\x7f' },
    'a path beyond latin1': { path: '/\u0100' },
    'a path that is an address': { path: 'http://a.example/' },
    'a name with a blank': { headers: ['x a', '1'] },
    'an empty name': { headers: ['', '1'] },
    'a name with a line break': { headers: ['x\r\ny', '1'] },
    'a value with a carriage return': { headers: ['x', 'a\rb'] },
    'a value with a line feed': { headers: ['x', 'a\nb'] },
    'a value with a NUL': { headers: ['x', 'a\0b'] },
    'a value beyond latin1': { headers: ['x', '\u010a'] },
    'two hosts': { headers: ['host', 'a', 'HOST', 'a'] },
  };
  for (const [name, change] of Object.entries(BAD)) {
    it(`is rejected with ${name}`, () => {
      expect(() => requestHead({ ...line, ...change }, HOST, undefined))
        .to.throw()
        .with.property('code', 'ERR_ROUTING_FORWARD_REQUEST');
    });
  }
});

describe('the head of a CONNECT request', () => {
  it('has the authority as its target and its only host', () => {
    const headers = ['Host', 'other.example', 'Proxy-Authorization', 'Basic eDp5', 'host', 'third.example'];
    expect(connectHead('db.example:5432', headers)).to.equal(
      'CONNECT db.example:5432 HTTP/1.1\r\nhost: db.example:5432\r\nProxy-Authorization: Basic eDp5\r\n\r\n',
    );
  });

  it('rejects headers that are unsafe to send', () => {
    for (const headers of [
      ['x-a', 'b\r\nx-c: d'],
      ['x a', 'b'],
      ['x-a', '\u20ac'],
    ])
      expect(() => connectHead('a:1', headers)).to.throw(/header|character/);
  });

  it('has no headers of the connection of a client', () => {
    const headers = ['connection', 'close', 'X-A', '1', 'Transfer-Encoding', 'chunked', 'te', 'trailers'];
    expect(withoutFraming([...headers, 'content-length', '3', 'upgrade', 'x'])).to.deep.equal(['X-A', '1']);
  });

  it('needs a host with a port', () => {
    for (const authority of ['db.example:5432', '10.0.0.1:1', '[::1]:80']) checkTunnelAuthority(authority);
    for (const authority of ['', 'db.example', 'db.example:', ':80', 'a b:1', '::1', 'db.example:80/x'])
      expect(() => checkTunnelAuthority(authority), authority).to.throw('must be host:port');
  });
});
