import { expect } from 'chai';
import type { CheckInput } from '../../src/check/check.ts';
import { virtualServices } from '../../src/check/virtual-services.ts';

describe('check of virtual services', () => {
  const told = async (reason: string) => {
    const object = {
      apiVersion: 'gateway.vendor.io/v1',
      kind: 'VirtualService',
      metadata: { name: 'shop', namespace: 'gw-system' },
      spec: { virtualHost: { routes: [{ routeAction: { single: { upstream: { name: 'lost' } } } }] } },
      status: { statuses: { 'gw-system': { state: 3, reason, reportedBy: 'gateway' } } },
    };
    return virtualServices.run({ objects: [object], everything: [object] } as unknown as CheckInput);
  };

  it('names a missing upstream once, where the status names it', async () => {
    expect(await told('warning: *v1.Upstream { gw-system.lost } not found')).to.have.length(1);
  });

  it('names a missing upstream that the status does not name', async () => {
    expect(await told('something else')).to.have.length(2);
  });
});
