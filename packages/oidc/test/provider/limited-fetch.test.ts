import { expect } from 'chai';
import { isTrusted, isTrustedFrom } from '../../src/provider/limited-fetch.ts';

describe('addresses of a provider', () => {
  it('are https, or http on this machine', () => {
    for (const url of [
      'https://id.example.com/token',
      'http://127.0.0.1:9/token',
      'http://localhost/',
      'http://[::1]/',
    ])
      expect(isTrusted(url), url).to.equal(true);
    for (const url of [
      'http://id.example.com/',
      'http://127.0.0.1.example.com/',
      'http://10.0.0.1/',
      'ftp://localhost/',
    ])
      expect(isTrusted(url), url).to.equal(false);
    expect(isTrusted('https://user:password@id.example.com/')).to.equal(false);
  });

  it('are on this machine only where the issuer is', () => {
    const own = [
      'http://127.0.0.1:19000/quitquitquit',
      'http://localhost:9091/',
      'https://localhost/',
      'http://[::1]:80/',
    ];
    for (const url of own) {
      expect(isTrustedFrom('https://id.example.com', url), url).to.equal(false);
      expect(isTrustedFrom('http://127.0.0.1:9998', url), url).to.equal(true);
    }
    expect(isTrustedFrom('https://id.example.com', 'https://other.example.com/token')).to.equal(true);
    expect(isTrustedFrom('https://id.example.com', 'http://id.example.com/token')).to.equal(false);
  });
});
