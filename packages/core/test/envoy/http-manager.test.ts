import { expect } from 'chai';
import { httpManager } from '../../src/envoy/http-manager.ts';
import type { Listener } from '../../src/index.ts';

function managerOf(httpConnectionManagerSettings: object, services: object | undefined = {}): any {
  const httpOptions = { httpConnectionManagerSettings };
  const listener = { name: 'l', options: {}, httpOptions, virtualHosts: [] } as unknown as Listener;
  const context = {
    secrets: { get: () => undefined },
    settings: { requireRbac: false },
    ...(services && { services }),
  };
  return (httpManager(listener, context) as any).typed_config;
}

describe('the HTTP manager of an Envoy', () => {
  it('trusts no address, and normalizes paths by default', () => {
    const manager = managerOf({});
    expect(manager).to.include({ use_remote_address: true, normalize_path: true, request_headers_timeout: '10s' });
    expect(manager.internal_address_config).to.deep.equal({
      cidr_ranges: [{ address_prefix: '100::', prefix_len: 128 }],
    });
    expect(manager.http2_protocol_options).to.deep.equal({ allow_connect: true });
  });

  it('has the settings of the listener', () => {
    const internalAddressConfig = { cidrRanges: [{ addressPrefix: '10.0.0.0', prefixLen: 8 }] };
    const manager = managerOf({ useRemoteAddress: false, xffNumTrustedHops: 2, internalAddressConfig });
    expect(manager).to.include({ use_remote_address: false, xff_num_trusted_hops: 2 });
    expect(manager.internal_address_config).to.deep.equal({
      cidr_ranges: [{ address_prefix: '10.0.0.0', prefix_len: 8 }],
    });
  });
});
