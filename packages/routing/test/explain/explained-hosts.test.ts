import { expect } from 'chai';
import type { HealthFlagName, HostState, SnapshotUpstream } from '@edge-gateway/core';
import type { RouteOptions } from '@edge-gateway/core/schema';
import { explainRequest } from '../../src/explain/explain.ts';
import type { ExplainedDestination } from '../../src/explain/explanation.ts';
import { hostOf as addressOf } from '../../src/http1/authority.ts';
import { createUpstreams } from '../../src/upstream/upstreams.ts';
import { createContext } from '@edge-gateway/core';
import { xxHash64 } from '../../src/upstream/balance/xx-hash.ts';
import { hostOf, routeOf, snapshotOf, upstreamOf } from '../snapshots.ts';

const ENDPOINTS = [1, 2, 3].map((i) => ({ address: `10.0.0.${i}`, port: 80, weight: 1 }));
const NO_COUNTERS = {
  cx_active: 0,
  cx_connect_fail: 0,
  cx_total: 0,
  rq_active: 0,
  rq_error: 0,
  rq_success: 0,
  rq_timeout: 0,
  rq_total: 0,
};

function stateOf(i: number, healthFlags: readonly HealthFlagName[] = []): HostState {
  const { address, port, weight } = ENDPOINTS[i]!;
  const plain = { hostname: address, priority: 0, locality: {}, successRate: -1, localOriginSuccessRate: -1 };
  return { address, port, weight, ...plain, counters: NO_COUNTERS, healthFlags };
}

interface Case {
  readonly upstream?: Partial<SnapshotUpstream>;
  readonly options?: RouteOptions;
  readonly headers?: Record<string, string>;
  readonly states?: readonly HostState[];
  readonly subset?: Record<string, string>;
  readonly http?: object;
}

function explained({ upstream, options = {}, headers = {}, states, subset, http = {} }: Case): ExplainedDestination {
  const served = { ...upstreamOf(ENDPOINTS), ...upstream };
  const destination = { upstream: served.name, weight: 1, options: {}, ...(subset && { subset }) };
  const action = { type: 'forward', destinations: [destination] } as const;
  const snapshot = snapshotOf([hostOf([routeOf({ options, action })])], [served], { httpOptions: http });
  const { outcome } = explainRequest(snapshot, {
    method: 'GET',
    url: 'http://a.example/',
    headers,
    hostStates: () => states,
  });
  if (outcome.type !== 'forward') throw new Error(outcome.type);
  return outcome.destinations[0]!;
}

const reasons = ({ hosts }: ExplainedDestination) => hosts.map(({ reason }) => reason ?? 'used');

describe('explained hosts', () => {
  it('name the host that serves a hash', () => {
    for (const algorithm of ['ringHash', 'maglev']) {
      const spec = { loadBalancerConfig: { [algorithm]: {} } };
      const options = { lbHash: { hashPolicies: [{ header: 'x-user' }] } };
      const upstreams = createUpstreams(createContext());
      const upstream = { ...upstreamOf(ENDPOINTS), spec };
      upstreams.apply([upstream]);
      for (const user of ['ann', 'bob', 'eve', 'joe']) {
        const served = upstreams.get(upstream.name)!.pick({ hash: xxHash64(user) })!;
        const { host, url } = explained({ upstream: { spec }, options, headers: { 'x-user': user } });
        expect(host).to.deep.equal({
          address: addressOf(served),
          reason: `hash ${xxHash64(user).toString(16).padStart(16, '0')} of the request`,
        });
        expect(url).to.equal(`http://${addressOf(served)}/`);
      }
      expect(explained({ upstream: { spec }, options })).not.to.have.property('host');
    }
  });

  it('name the host of a session', () => {
    const http = { statefulSession: { headerBased: { headerName: 'x-host' }, strict: true } };
    const bound = (address: string) => ({ 'x-host': Buffer.from(address).toString('base64') });
    const { host } = explained({ http, headers: bound('10.0.0.2:80') });
    expect(host).to.deep.equal({ address: '10.0.0.2:80', reason: 'the session of the client names it' });
    const gone = explained({ http, headers: bound('10.0.0.9:80') });
    expect(gone.reply).to.include({ status: 503, reason: 'no host of the upstream can be used' });
  });

  it('say why a host is not used', () => {
    const flags: HealthFlagName[][] = [['failed_active_hc', 'active_hc_timeout'], ['failed_outlier_check'], []];
    const spec = { loadBalancerConfig: { healthyPanicThreshold: 10 } };
    const states = flags.map((names, i) => stateOf(i, names));
    const destination = explained({ upstream: { spec }, states });
    expect(reasons(destination)).to.deep.equal(['its health checks fail', 'outlier detection ejected it', 'used']);
    expect(destination.url).to.equal('http://10.0.0.3:80/');
    expect(reasons(explained({ states }))).to.deep.equal(['used', 'used', 'used']);
  });

  it('say that no host can be used', () => {
    const spec = { loadBalancerConfig: { healthyPanicThreshold: 0 } };
    const { reply, url } = explained({ upstream: { spec }, states: [stateOf(0, ['failed_active_hc'])] });
    expect(reply).to.include({ status: 503, reason: 'no host of the upstream can be used' });
    expect(url).to.equal('');
  });

  it('say which priority receives the requests', () => {
    const endpoints = ENDPOINTS.map((endpoint, i) => ({ ...endpoint, priority: i > 0 ? 1 : 0 }));
    const other = 'hosts of other priorities receive all requests';
    expect(reasons(explained({ upstream: { endpoints } }))).to.deep.equal(['used', other, other]);
  });

  it('say which labels a host lacks', () => {
    const endpoints = ENDPOINTS.map((endpoint, i) => ({ ...endpoint, metadata: { version: `v${i}` } }));
    const spec = { static: { subsetSpec: { selectors: [{ keys: ['version'] }] } } };
    const states = ENDPOINTS.map((_, i) => stateOf(i));
    const lacks = 'it lacks the labels version=v1';
    const destination = explained({ upstream: { endpoints, spec }, states, subset: { version: 'v1' } });
    expect(reasons(destination)).to.deep.equal([lacks, 'used', lacks]);
    expect(destination.subset).to.deep.equal({ version: 'v1' });
  });

  it('ignore the subset on an upstream without subsets', () => {
    expect(explained({ upstream: {}, subset: { version: 'v1' } })).not.to.have.property('subset');
  });
});
