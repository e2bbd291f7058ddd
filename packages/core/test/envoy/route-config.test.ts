import { expect } from 'chai';
import { virtualHost } from '../../src/envoy/route-config.ts';
import type { VirtualHost } from '../../src/index.ts';

const RBAC = 'envoy.filters.http.rbac';
const CONTEXT = {
  secrets: { get: () => undefined },
  settings: { requireRbac: false },
  services: {},
  filters: new Set([RBAC, 'envoy.filters.http.router']),
};
const route = (action: object, options: object = {}) => ({
  name: 'r',
  logName: '',
  matchers: [{ prefix: '/' }],
  options,
  action,
  source: { kind: 'VirtualService', name: 'v', namespace: 'gw-system' },
});
const forward = (more: object = {}) =>
  route({ type: 'forward', destinations: [{ upstream: 'app', weight: 1, options: {}, ...more }] });
const routesOf = (given: object, more: object = {}, options: object = {}): any[] => {
  const host = { name: 'h', domains: ['a.test'], options, routes: [given], authConfigs: [], rateLimitConfigs: [] };
  return (virtualHost(host as unknown as VirtualHost, { ...CONTEXT, ...more }) as any).routes;
};
const UNFILTERED = {
  [RBAC]: { '@type': 'type.googleapis.com/envoy.config.route.v3.FilterConfig', disabled: true },
};

describe('a virtual host of an Envoy', () => {
  it('rejects paths with hidden dot segments before all routes, whatever its policies are', () => {
    const [guard, own, ...others] = routesOf(forward());
    expect(guard).to.deep.include({
      name: 'hidden-dot-segment',
      direct_response: { status: 400 },
      typed_per_filter_config: UNFILTERED,
    });
    const path = new RegExp(`^${guard.match.safe_regex.regex.replace('(?i)', '')}$`, 'i');
    expect(['/a/%2e%2E%2fb', '/a/..%5cb', '/a/b%2fc', '/a/..b'].map((each) => path.test(each))).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
    expect([own.name, others]).to.deep.equal(['r-matcher-0', []]);
  });

  it('responds with 500 on a route that it cannot express, or hands it over without its filters', () => {
    const reasons = [['options.dlp']];
    const [, rejected] = routesOf(forward(), { reasons });
    expect(rejected).to.deep.include({ direct_response: { status: 500 }, typed_per_filter_config: UNFILTERED });
    expect(rejected).to.not.have.property('route');
    const [, handedOver] = routesOf(forward(), { reasons, nodeCluster: 'nodes' });
    expect(handedOver.route).to.include({ cluster: 'nodes', timeout: '0s' });
    expect(handedOver.typed_per_filter_config).to.deep.equal(UNFILTERED);
  });

  it('forwards with the default timeout, and retries once by default', () => {
    const [, own] = routesOf(forward(), {}, { retries: { retryOn: '5xx' } });
    expect(own.route).to.deep.include({ cluster: 'app', timeout: '15s' });
    expect(own.route.retry_policy).to.include({ retry_on: '5xx', num_retries: 1 });
  });

  it('responds itself on a route with a broken destination', () => {
    const [, own] = routesOf(forward({ broken: { status: 503, body: 'gone', reason: 'missing' } }));
    expect(own.direct_response).to.deep.equal({ status: 503, body: { inline_string: 'gone' } });
  });
});
