import { expect } from 'chai';
import { isLoopbackUrl, isPrivateHttpUrl, isTrustedUrl } from '../../src/security/trusted-url.ts';

describe('a trusted URL', () => {
  const cases: readonly (readonly [string, boolean, boolean])[] = [
    ['https://id.example.com/keys', true, true],
    ['http://localhost:8080/', true, true],
    ['http://127.0.0.1/', true, true],
    ['http://127.4.5.6/', true, true],
    ['http://[::1]:9000/', true, true],
    ['http://id.example.com/', false, true],
    ['http://127.0.0.1.example.com/', false, true],
    ['http://localhost.example.com/', false, true],
    ['http://10.0.0.1/', false, true],
    ['https://user:password@id.example.com/', false, false],
    ['http://user@127.0.0.1/', false, false],
    ['ftp://127.0.0.1/', false, false],
    ['file:///etc/passwd', false, false],
    ['id.example.com', false, false],
    ['', false, false],
  ];
  for (const [url, trusted, withHttp] of cases) {
    it(`${url || '(empty)'}: ${trusted}, with allowHttp ${withHttp}`, () => {
      expect(isTrustedUrl(url)).to.equal(trusted);
      expect(isTrustedUrl(url, { allowHttp: true })).to.equal(withHttp);
    });
  }

  for (const [host, isPrivate] of [
    ['dex', true],
    ['dex.gw-system.svc.cluster.local:32000', true],
    ['dex.gw-system.svc', true],
    ['10.1.2.3', true],
    ['192.168.0.1:80', true],
    ['172.16.0.1', true],
    ['172.31.255.255', true],
    ['[fd00::1]', true],
    ['172.32.0.1', false],
    ['172.15.0.1', false],
    ['11.0.0.1', false],
    ['192.169.0.1', false],
    ['[fe80::1]', false],
    ['[2001:db8::1]', false],
    ['id.example.com', false],
    ['10.0.0.1.example.com', false],
    ['svc.example.com', false],
    ['127.0.0.1', false],
    ['localhost.evil.example', false],
    ['dex.svc.cluster.local.evil.example', false],
    ['dex.svc.cluster.local@evil.example', false],
    ['evil.example/.svc', false],
    ['evil.example#.svc', false],
    ['evil.example\\.svc', false],
    ['evil。example', false],
    ['xn--e1aybc.example', false],
    ['evil.example.', false],
    ['localhost.', false],
    ['[::ffff:8.8.8.8]', false],
    ['[::ffff:10.0.0.1]', false],
    ['[64:ff9b::a00:1]', false],
    ['134744072', false],
    ['0x08080808', false],
    ['010.8.8.8', false],
    ['8.526344', false],
    ['167772161', true],
  ] as const) {
    it(`over http to a private host: ${host} ${isPrivate}`, () => {
      expect(isPrivateHttpUrl(`http://${host}/`)).to.equal(isPrivate);
      expect(isPrivateHttpUrl(`https://${host}/`)).to.equal(false);
      expect(isTrustedUrl(`http://${host}/`), 'by default').to.equal(host === '127.0.0.1');
    });
  }

  it('is on this machine only if its host is loopback', () => {
    expect(isLoopbackUrl('http://127.0.0.1/')).to.equal(true);
    expect(isLoopbackUrl('https://[::1]/')).to.equal(true);
    expect(isLoopbackUrl('https://127.0.0.1.example.com/')).to.equal(false);
    expect(isLoopbackUrl('no address')).to.equal(false);
  });
});
