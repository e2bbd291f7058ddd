import { expect } from 'chai';
import type { SubsetSpec } from '@edge-gateway/core/schema';
import { loadSettings } from '../../../src/upstream/balance/load-settings.ts';
import { createSubsets } from '../../../src/upstream/balance/subsets.ts';
import { numberedUpstream } from '../../numbered.ts';
import { served, type Served } from '../../served.ts';
import { routeOf } from '../../snapshots.ts';
import { hostsOf } from './hosts.ts';

const HOSTS = [
  { metadata: { version: 'v1', stage: 'prod' } },
  { metadata: { version: 'v1', stage: 'dev' } },
  { metadata: { version: 'v2', stage: 'prod' } },
  {},
];

function picker(spec: SubsetSpec) {
  const hosts = hostsOf(HOSTS);
  const pick = createSubsets(hosts, spec, loadSettings({ spec: {} }));
  /** The indices of the hosts that requests with these labels use. */
  const used = (metadataMatch?: Record<string, string>): string => {
    const found = Array.from({ length: 8 }, () => pick(metadataMatch && { metadataMatch }));
    return [...new Set(found.map((host) => (host ? hosts.indexOf(host) : 'none')))].sort().join();
  };
  return { hosts, used };
}

const selectors = [{ keys: ['version'] }, { keys: ['stage', 'version'] }];

describe('subsets', () => {
  it('are the hosts with the labels of a selector', () => {
    const { used } = picker({ selectors, fallbackPolicy: 'NO_FALLBACK' });
    expect(used({ version: 'v1' })).to.equal('0,1');
    expect(used({ version: 'v2' })).to.equal('2');
    expect(used({ version: 'v1', stage: 'dev' })).to.equal('1');
  });

  it('use the fallback policy for no labels, no hosts, and labels without a selector', () => {
    for (const [policy, result] of [
      ['NO_FALLBACK', 'none'],
      ['ANY_ENDPOINT', '0,1,2,3'],
      ['DEFAULT_SUBSET', '0,2'],
      [undefined, '0,1,2,3'],
    ] as const) {
      const defaultSubset = { values: { stage: 'prod' } };
      const { used } = picker({ selectors, defaultSubset, ...(policy && { fallbackPolicy: policy }) });
      const others: (Record<string, string> | undefined)[] = [undefined, { version: 'v3' }, { stage: 'dev' }];
      for (const labels of [...others, { version: 'v1', stage: 'x' }])
        expect(used(labels), `${policy} ${JSON.stringify(labels)}`).to.equal(result);
    }
  });

  it('have a single host with singleHostPerSubset', () => {
    const { used } = picker({ selectors: [{ keys: ['version'], singleHostPerSubset: true }] });
    expect(used({ version: 'v1' })).to.equal('0');
  });

  it('do not fall back while their hosts are only unhealthy', () => {
    const hosts = hostsOf(HOSTS);
    hosts[2]!.setFlag('failedActiveHc', true);
    const settings = loadSettings({ spec: { loadBalancerConfig: { healthyPanicThreshold: 0 } } });
    const pick = createSubsets(hosts, { selectors }, settings);
    expect(pick({ metadataMatch: { version: 'v2' } })).to.equal(undefined);
  });

  describe('of destinations', () => {
    let gateway: Served;
    afterEach(() => gateway.close());

    const serve = async (subset: Record<string, string>, subsetSpec: SubsetSpec | undefined, http = {}) => {
      const upstream = await numberedUpstream(3, {}, (i) => HOSTS[i]!);
      const spec = { ...upstream.spec, static: { ...upstream.spec.static, ...(subsetSpec && { subsetSpec }) } };
      const action = { type: 'forward', destinations: [{ upstream: upstream.name, weight: 1, options: {}, subset }] };
      gateway = await served({
        routes: [routeOf({ action: action as never })],
        upstreams: [{ ...upstream, spec }],
        http,
      });
      return upstream.endpoints.map(({ port }) => Buffer.from(`127.0.0.1:${port}`).toString('base64'));
    };
    const bodies = async (headers = {}): Promise<string> => {
      const found: string[] = [];
      for (let i = 0; i < 6; i++) {
        const { status, body } = await gateway.ask('/', { headers });
        found.push(status === 200 ? body : String(status));
      }
      return [...new Set(found)].sort().join();
    };

    it('receive their requests', async () => {
      await serve({ version: 'v1' }, { selectors });
      expect(await bodies()).to.equal('0,1');
    });

    it('return 503 without a fallback', async () => {
      await serve({ version: 'v9' }, { selectors, fallbackPolicy: 'NO_FALLBACK' });
      expect(await bodies()).to.equal('503');
    });

    it('are ignored without subsetSpec', async () => {
      await serve({ version: 'v1' }, undefined);
      expect(await bodies()).to.equal('0,1,2');
    });

    it('come before stateful sessions', async () => {
      const http = { statefulSession: { headerBased: { headerName: 'x-host' } } };
      const names = await serve({ version: 'v1' }, { selectors }, http);
      expect(await bodies({ 'x-host': names[1] })).to.equal('1');
      expect(await bodies({ 'x-host': names[2] })).to.equal('0,1');
    });
  });
});
