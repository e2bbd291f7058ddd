import { expect } from 'chai';
import { connectRequest } from '../../../src/upstream/connect/tunnel.ts';

describe('the request for a tunnel through an HTTP proxy', () => {
  it('has the configured headers', () => {
    const headers = [
      ['Proxy-Authorization', 'Basic eDp5'],
      ['x-a', ''],
    ] as const;
    expect(connectRequest('db.example:5432', headers)).to.equal(
      'CONNECT db.example:5432 HTTP/1.1\r\nhost: db.example:5432\r\nProxy-Authorization: Basic eDp5\r\nx-a: \r\n\r\n',
    );
  });

  for (const [name, value] of [
    ['Host', 'other.example'],
    ['content-length', '5'],
    ['Transfer-Encoding', 'chunked'],
    ['connection', 'close'],
    ['x a', '1'],
    ['', '1'],
    ['x-a', '1\r\nx-b: 2'],
    ['x-a', '\u20ac'],
  ] as const) {
    it(`rejects the header ${JSON.stringify(`${name}: ${value}`)}`, () => {
      expect(() => connectRequest('db.example:5432', [[name, value]])).to.throw(TypeError, 'cannot be sent to a proxy');
    });
  }
});
