import { expect } from 'chai';
import { requestHead } from '../../src/http1/request-head.ts';

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
