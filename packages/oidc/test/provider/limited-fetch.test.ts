import { expect } from 'chai';
import { isTrustedFrom } from '../../src/provider/limited-fetch.ts';

describe('addresses of a provider', () => {
  it('are on the local machine only if the issuer is', () => {
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

  it('are never on the local machine for a remote provider, even with allowHttp', () => {
    const trust = { allowHttp: true };
    expect(isTrustedFrom('http://id.example.com', 'http://id.example.com/token', trust)).to.equal(true);
    expect(isTrustedFrom('http://id.example.com', 'http://127.0.0.1:19000/quitquitquit', trust)).to.equal(false);
  });
});
