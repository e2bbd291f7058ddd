import { expect } from 'chai';
import type { Route, VirtualHost } from '../../src/index.ts';
import { routeAction } from '../../src/envoy/route-action-message.ts';

const shown = (body: string): unknown => {
  const action = { type: 'direct', status: 200, body } as const;
  const route: Route = {
    name: 'r',
    logName: '',
    matchers: [],
    action,
    options: {},
    source: { kind: 'VirtualService', name: 'v', namespace: 'gw-system' },
  };
  const secrets = { get: () => undefined, files: () => undefined };
  return routeAction(route, { name: 'gw-system.shop' } as VirtualHost, { secrets, settings: { requireRbac: false } });
};

describe('a direct response in the dump', () => {
  it('has its status and body', () => {
    expect(shown('{ "a": 1 }')).to.deep.equal({
      direct_response: { status: 200, body: { inline_string: '{ "a": 1 }' } },
    });
  });

  it('contains no secrets', () => {
    const key = { kty: 'oct', k: 'MARKER' };
    expect(JSON.stringify(shown(JSON.stringify({ password: 'MARKER', key })))).to.not.contain('MARKER');
    expect(JSON.stringify(shown('-----BEGIN PRIVATE KEY-----\nMARKER'))).to.not.contain('MARKER');
  });
});

describe('rewrites in the dump', () => {
  const secrets = { get: () => undefined, files: () => undefined };
  const dumped = (action: Route['action'], options: Route['options']): string => {
    const source = { kind: 'VirtualService', name: 'v', namespace: 'gw-system' } as const;
    const route: Route = { name: 'r', logName: '', matchers: [], action, options, source };
    const host = { name: 'gw-system.shop', options: {} } as VirtualHost;
    return JSON.stringify(routeAction(route, host, { secrets, settings: { requireRbac: false } }));
  };
  const prefix = { prefixRewrite: '/api?code=MARKER&v=1' };
  const regex = { regexRewrite: { pattern: { regex: '/a' }, substitution: '/api?code=MARKER&v=1' } };
  const forward: Route['action'] = { type: 'forward', destinations: [{ upstream: 'db', weight: 1, options: {} }] };

  it('contain no secrets of a query', () => {
    for (const text of [
      dumped(forward, prefix),
      dumped(forward, regex),
      dumped({ type: 'redirect', redirect: prefix }, {}),
      dumped({ type: 'redirect', redirect: regex }, {}),
    ]) {
      expect(text).to.not.contain('MARKER');
      expect(text).to.contain('/api?code=[redacted]&v=1');
    }
  });
});

describe('a forwarding route in the dump', () => {
  it('has its upgrades', () => {
    const route: Route = {
      name: 'r',
      logName: '',
      matchers: [{ connectMatcher: {} }],
      action: { type: 'forward', destinations: [{ upstream: 'db', weight: 1, options: {} }] },
      options: { upgrades: [{ websocket: { enabled: false } }, { connectTerminate: {} }] },
      source: { kind: 'VirtualService', name: 'v', namespace: 'gw-system' },
    };
    const secrets = { get: () => undefined, files: () => undefined };
    const upgradesOf = (options: Route['options']): unknown => {
      const host = { name: 'gw-system.shop', options: {} } as VirtualHost;
      const shownAction = routeAction({ ...route, options }, host, { secrets, settings: { requireRbac: false } });
      return (shownAction as { route: { upgrade_configs: unknown } }).route.upgrade_configs;
    };
    expect(upgradesOf(route.options)).to.deep.equal([
      { upgrade_type: 'websocket', enabled: false },
      { upgrade_type: 'CONNECT', connect_config: {} },
    ]);
    expect(upgradesOf({ upgrades: [{ connect: {} }] })).to.deep.equal([{ upgrade_type: 'CONNECT', enabled: true }]);
  });
});
