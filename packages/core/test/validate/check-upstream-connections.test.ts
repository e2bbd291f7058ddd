import { expect } from 'chai';
import { checkTunnel } from '../../src/validate/check-upstream-connections.ts';

const problems = (spec: object): string[] =>
  checkTunnel(spec, []).map(({ path, message }) => `${path.join('.')}: ${message}`);
const withHeader = (key: string, value: string) =>
  problems({ httpProxyHostname: 'server.test:443', httpConnectHeaders: [{ key, value }] });

describe('an upstream behind an HTTP proxy', () => {
  it('has a server with a port', () => {
    expect(problems({ httpProxyHostname: '[::1]:443' })).to.deep.equal([]);
    for (const server of ['server.test', 'a b:1', ':1', ''])
      expect(problems({ httpProxyHostname: server })).to.deep.equal([
        `httpProxyHostname: httpProxyHostname must be host:port, not '${server}'`,
      ]);
  });

  it('receives headers that can be sent, except for those of the request itself', () => {
    expect(withHeader('Proxy-Authorization', 'Basic eDp5')).to.deep.equal([]);
    expect(withHeader('x-a', '\u20ac')).to.deep.equal([]);
    for (const [key, value] of [
      ['Host', 'a'],
      ['content-length', '1'],
      ['Transfer-Encoding', 'chunked'],
      ['connection', 'close'],
      ['x a', '1'],
      ['x-a', '1\r\nx-b: 2'],
      ['x-a', '\u0001'],
    ] as const)
      expect(withHeader(key, value)).to.deep.equal([
        `httpConnectHeaders.0: the header '${key}' cannot be sent to a proxy`,
      ]);
  });

  it('is needed by the settings of the tunnel', () => {
    expect(problems({ httpConnectHeaders: [{ key: 'a', value: 'b' }] })).to.deep.equal([
      'httpConnectHeaders: httpConnectHeaders has no effect without httpProxyHostname',
    ]);
  });
});
