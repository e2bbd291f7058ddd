import { expect } from 'chai';
import { readService } from '../../src/discovery/cluster-objects.ts';
import { usedServices } from '../../src/gateway-api/used-services.ts';

describe('the parts of Services that the Gateway API uses', () => {
  const used = (spec: object = {}, metadata: object = {}): string => {
    const service = readService({
      metadata: { name: 'web', namespace: 'apps', resourceVersion: '1', ...metadata },
      spec: { ports: [{ port: 80 }], clusterIP: '10.0.0.1', ...spec },
    });
    return usedServices(new Map([['apps/web', service]]));
  };

  it('are ports, addresses and the label of the Gateway', () => {
    const before = used();
    expect(used({ ports: [{ port: 81 }] })).to.not.equal(before);
    expect(used({ clusterIP: '10.0.0.2' })).to.not.equal(before);
    expect(used({}, { labels: { 'gateway.networking.k8s.io/gateway-name': 'gw' } })).to.not.equal(before);
    expect(usedServices(new Map())).to.not.equal(before);
  });

  it('are not selectors, annotations, names of ports and other labels', () => {
    const other = used(
      { ports: [{ port: 80, name: 'http' }], selector: { app: 'b' } },
      { resourceVersion: '2', labels: { app: 'b' }, annotations: { 'gw.vendor.io/h2_service': 'true' } },
    );
    expect(other).to.equal(used());
  });
});
