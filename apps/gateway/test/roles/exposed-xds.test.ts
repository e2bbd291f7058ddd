import { expect } from 'chai';
import { exposedXds } from '../../src/roles/exposed-xds.ts';

describe('the warning of an exposed port for proxies', () => {
  for (const address of ['127.0.0.1', '::1', '127.0.0.2'])
    it(`is not needed on ${address}`, () => expect(exposedXds(address, undefined)).to.equal(undefined));

  for (const address of ['0.0.0.0', '::', '10.0.0.1']) {
    it(`names what is not sent without TLS on ${address}`, () => {
      expect(exposedXds(address, undefined)).to.contain('secrets are not sent').and.to.contain('--xds-tls-cert');
    });

    it(`names what anyone can read without client certificates on ${address}`, () => {
      expect(exposedXds(address, {})).to.contain('secrets are not sent').and.to.contain('--xds-tls-client-ca');
      expect(exposedXds(address, {}, true))
        .to.contain('with its secrets')
        .and.to.contain('--xds-tls-client-ca');
    });

    it(`is not needed with client certificates on ${address}`, () => {
      expect(exposedXds(address, { clientCa: 'PEM' })).to.equal(undefined);
    });
  }
});
