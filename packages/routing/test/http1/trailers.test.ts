import { expect } from 'chai';
import { forbiddenTrailer, forwardableTrailers } from '../../src/http1/trailers.ts';

const RULES = { dropsUnderscores: false };
const FORBIDDEN = [
  'Authorization',
  'Connection',
  'Content-Length',
  'Content-Type',
  'Cookie',
  'Expect',
  'Forwarded',
  'Host',
  'HTTP2-Settings',
  'Keep-Alive',
  'Max-Forwards',
  'Proxy-Authorization',
  'Set-Cookie',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
  'Via',
  'X-Envoy-Original-Path',
  'X-Forwarded-For',
  'X-Real-IP',
  'X-Request-Id',
];
const CONTROL = [
  'Access-Control-Allow-Origin',
  'Age',
  'Cache-Control',
  'Clear-Site-Data',
  'Date',
  'Expires',
  'Location',
  'Retry-After',
  'Strict-Transport-Security',
  'Vary',
  'Warning',
  'WWW-Authenticate',
];

describe('trailers', () => {
  for (const name of FORBIDDEN)
    it(`of a request must not be ${name}, in any case or with underscores`, () => {
      for (const written of [name, name.toLowerCase(), name.toUpperCase(), name.replaceAll('-', '_')]) {
        expect(forbiddenTrailer(['x-a', '1', written, '2']), written).to.equal(written);
        expect(forwardableTrailers([written, '1'], [], RULES), written).to.deep.equal([]);
      }
    });

  for (const name of CONTROL)
    it(`are not forwarded with ${name}, which controls a response`, () => {
      expect(forwardableTrailers([name, '1', 'x-a', '2'], [], RULES)).to.deep.equal(['x-a', '2']);
    });

  it('are forwarded unless a header has the same name', () => {
    const flat = ['X-Sum', '1', 'x-other', '2', 'x_third', '3'];
    expect(forwardableTrailers(flat, [], RULES)).to.deep.equal(flat);
    expect(forwardableTrailers(flat, ['x-sum', '0', 'X-Third', '0'], RULES)).to.deep.equal(['x-other', '2']);
    expect(forwardableTrailers(flat, [], { dropsUnderscores: true })).to.deep.equal(['X-Sum', '1', 'x-other', '2']);
  });
});
