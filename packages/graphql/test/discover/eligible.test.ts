import type { Resource } from '@edge-gateway/core';
import type { SettingsSpec, UpstreamSpec } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { createsApis, isEligible } from '../../src/discover/eligible.ts';

type Labels = Readonly<Record<string, string>>;
interface Written {
  readonly own?: Labels;
  readonly service?: Labels;
  readonly namespace?: Labels;
  readonly name?: string;
}

const label = (value: string): Labels => ({ 'discovery.vendor.io/function_discovery': value });
const [ENABLED, DISABLED] = [label('enabled'), label('disabled')];

function eligible(
  discovery: SettingsSpec['discovery'],
  { own, service, namespace, name = 'apps' }: Written = {},
): boolean {
  const upstream: Resource<UpstreamSpec> = {
    apiVersion: 'gw.vendor.io/v1',
    kind: 'Upstream',
    metadata: { name: 'a', namespace: 'gw-system', ...(own && { labels: own }) },
    spec: {
      kube: { serviceName: 'a', serviceNamespace: name, servicePort: 80 },
      ...(service && { discoveryMetadata: { labels: service } }),
    },
    origin: { file: 'test', line: 1, column: 1 },
  };
  return isEligible(upstream, discovery, new Map(namespace ? [[name, namespace]] : []));
}

describe('upstreams that are asked for their functions', () => {
  it('are all without the label disabled with BLACKLIST', () => {
    for (const discovery of [{ fdsMode: 'BLACKLIST' }, {}] as const) {
      expect(eligible(discovery)).to.equal(true);
      for (const place of ['own', 'service', 'namespace'] as const) {
        expect(eligible(discovery, { [place]: DISABLED }), place).to.equal(false);
        expect(eligible(discovery, { [place]: ENABLED }), place).to.equal(true);
      }
    }
  });

  it('are those with the label enabled with WHITELIST, which is the default without settings', () => {
    for (const discovery of [{ fdsMode: 'WHITELIST' }, undefined] as const) {
      expect(eligible(discovery)).to.equal(false);
      for (const place of ['own', 'service', 'namespace'] as const)
        expect(eligible(discovery, { [place]: ENABLED }), place).to.equal(true);
      expect(eligible(discovery, { own: label('yes') })).to.equal(false);
    }
  });

  it('are none with DISABLED', () => {
    expect(eligible({ fdsMode: 'DISABLED' }, { own: ENABLED })).to.equal(false);
  });

  it('get no GraphQLApi if GraphQL is not enabled', () => {
    expect(eligible({ fdsOptions: { graphqlEnabled: false } }, { own: ENABLED })).to.equal(true);
    expect(createsApis({ fdsOptions: { graphqlEnabled: false } })).to.equal(false);
    for (const discovery of [undefined, {}, { fdsOptions: {} }, { fdsOptions: { graphqlEnabled: true } }])
      expect(createsApis(discovery)).to.equal(true);
  });

  it('follow the label of the Upstream before that of the Service, and that before the namespace', () => {
    const discovery = { fdsMode: 'BLACKLIST' } as const;
    expect(eligible(discovery, { own: ENABLED, service: DISABLED, namespace: DISABLED })).to.equal(true);
    expect(eligible(discovery, { service: DISABLED, namespace: ENABLED })).to.equal(false);
    expect(eligible(discovery, { own: DISABLED, service: ENABLED })).to.equal(false);
  });

  it('in kube-system and kube-public need the label', () => {
    for (const name of ['kube-system', 'kube-public']) {
      expect(eligible({ fdsMode: 'BLACKLIST' }, { name })).to.equal(false);
      for (const place of ['own', 'service', 'namespace'] as const)
        expect(eligible({ fdsMode: 'BLACKLIST' }, { name, [place]: ENABLED }), place).to.equal(true);
    }
  });
});
