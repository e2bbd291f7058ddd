import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { factsOf, type Facts, type Route, type SnapshotSettings, type VirtualHost } from '@edge-gateway/core';
import { explainLimits, explainLocalLimits, type ExplainedLimits } from '@edge-gateway/rate-limit';
import type { RateLimitAction, RouteOptions, VirtualHostOptions } from '@edge-gateway/core/schema';

interface Parts {
  readonly options?: RouteOptions;
  readonly hostOptions?: VirtualHostOptions;
  readonly settings?: Partial<SnapshotSettings>;
  readonly headers?: readonly string[];
  readonly clientAddress?: string;
}

function placeOf({ options = {}, hostOptions = {}, settings = {} }: Parts) {
  const action = { type: 'forward', destinations: [] };
  const route = { name: 'gw-system.shop-route-0', options, action } as unknown as Route;
  const virtualHost = { name: 'gw-system.shop', options: hostOptions, routes: [route], rateLimitConfigs: [] };
  return {
    route,
    virtualHost: virtualHost as unknown as VirtualHost,
    settings: { requireRbac: false, ...settings },
  };
}

function explain(parts: Parts, stage: ExplainedLimits['stage'] = 'rateLimit'): ExplainedLimits | undefined {
  const facts = factsOf({ url: '/a', method: 'GET', rawHeaders: [], headers: {} } as unknown as IncomingMessage);
  facts.headers = parts.headers ?? [];
  facts.connection = { clientAddress: parts.clientAddress ?? '192.0.2.1', scheme: 'http' } as Facts['connection'];
  return explainLimits({ stage, scope: placeOf(parts), facts });
}

const actions = (...list: RateLimitAction[]): VirtualHostOptions => ({
  ratelimit: { rateLimits: [{ actions: list }] },
});
const perMinute = (requestsPerUnit: number) => ({ requestsPerUnit, unit: 'MINUTE' }) as const;

describe('explainLimits', () => {
  it('returns nothing for a route without limits, and at the other stage', () => {
    expect(explain({})).to.equal(undefined);
    const hostOptions = { ratelimitRegular: actions({ remoteAddress: {} }).ratelimit! };
    expect(explain({ hostOptions }, 'rateLimitEarly')).to.equal(undefined);
    expect(explain({ hostOptions })!.descriptors).to.have.length(1);
  });

  it('moves limits before authentication if the settings require it', () => {
    const parts = {
      hostOptions: actions({ remoteAddress: {} }),
      settings: { ratelimitServer: { rateLimitBeforeAuth: true } },
    };
    expect(explain(parts)).to.equal(undefined);
    expect(explain(parts, 'rateLimitEarly')!.descriptors[0]!.entries).to.deep.equal([
      { key: 'remote_address', value: '192.0.2.1' },
    ]);
  });

  const headers = [{ name: 'x-a', exactMatch: '1' }];
  const cases: [what: string, action: RateLimitAction, reason: string][] = [
    ['an absent header', { requestHeaders: { headerName: 'X-A', descriptorKey: 'a' } }, 'header x-a is absent'],
    [
      'conditions that do not match',
      { headerValueMatch: { descriptorValue: 'v', headers } },
      'the conditions on x-a of header_match v do not match',
    ],
    [
      'conditions that match against expectation',
      {
        headerValueMatch: { descriptorValue: 'v', expectMatch: false, headers: [{ name: 'x-a', presentMatch: false }] },
      },
      'the conditions on x-a of header_match v match',
    ],
    [
      'absent metadata',
      { metadata: { descriptorKey: 'p', metadataKey: { key: 'jwt', path: [{ key: 'main' }, { key: 'plan' }] } } },
      'metadata jwt main.plan is absent',
    ],
    ['a route without a cluster', { destinationCluster: {} }, 'the route has no cluster'],
  ];
  for (const [what, action, reason] of cases) {
    it(`names ${what}`, () => {
      const [descriptor] = explain({ hostOptions: actions({ remoteAddress: {} }, action) })!.descriptors;
      expect(descriptor).to.deep.equal({ domain: 'custom', isSet: false, entries: [], dropped: reason });
    });
  }

  it('names metadata that is not a string, and counts an invalid address', () => {
    const metadata = { descriptorKey: 'p', metadataKey: { key: 'm' }, source: 'ROUTE_ENTRY' } as const;
    const options = { envoyMetadata: { m: { n: 1 } } };
    const [descriptor] = explain({ hostOptions: actions({ metadata }), options })!.descriptors;
    expect(descriptor!.dropped).to.equal('metadata of m for p must be a string, but is of type object');
    const [unknown] = explain({ hostOptions: actions({ remoteAddress: {} }), clientAddress: 'unix' })!.descriptors;
    expect(unknown!.dropped).to.equal(undefined);
    expect(unknown!.entries).to.deep.equal([{ key: 'remote_address', value: 'unknown' }]);
  });

  it('redacts secrets, and shows none in counters', () => {
    const action = { requestHeaders: { headerName: 'authorization', descriptorKey: 'token' } };
    const settings = { ratelimit: { descriptors: [{ key: 'token', rateLimit: perMinute(1) }] } };
    const found = explain({ hostOptions: actions(action), settings, headers: ['authorization', 'hunter2'] })!;
    expect(JSON.stringify(found)).not.to.contain('hunter2');
    expect(found.rules).to.have.length(1);
    expect(found.descriptors[0]!.entries).to.have.length(1);
  });

  it('redacts values whose key is the name of a secret, in counters too', () => {
    const action = { requestHeaders: { headerName: 'x-a', descriptorKey: 'client_secret' } };
    const settings = { ratelimit: { descriptors: [{ key: 'client_secret', rateLimit: perMinute(1) }] } };
    const found = explain({ hostOptions: actions(action), settings, headers: ['x-a', 'hunter2'] })!;
    expect(found.descriptors[0]!.entries[0]!.value).to.equal('<redacted>');
    expect(JSON.stringify(found)).not.to.contain('hunter2');
    expect(found.rules).to.have.length(1);
  });

  it('marks rules that a higher weight replaces', () => {
    const hostOptions = {
      ratelimit: {
        rateLimits: ['a', 'b', 'c'].map((descriptorValue) => ({ actions: [{ genericKey: { descriptorValue } }] })),
      },
    };
    const rule = (value: string, more: object) => ({ key: 'generic_key', value, rateLimit: perMinute(1), ...more });
    const descriptors = [rule('a', {}), rule('b', { weight: 2 }), rule('c', { alwaysApply: true })];
    const { rules } = explain({ hostOptions, settings: { ratelimit: { descriptors } } })!;
    expect(rules.map(({ rule: name, applies }) => [name, applies])).to.deep.equal([
      ['custom.generic_key_a', false],
      ['custom.generic_key_b', true],
      ['custom.generic_key_c', true],
    ]);
  });

  it('says why limits cannot be compiled', () => {
    const hostOptions = { rateLimitConfigs: { refs: [{ name: 'lost', namespace: 'gw-system' }] } };
    const failure = 'RateLimitConfig gw-system.lost does not exist';
    const none = { descriptors: [], rules: [], concurrency: [] };
    expect(explain({ hostOptions })).to.deep.equal({ stage: 'rateLimit', ...none, failure });
  });
});

describe('explainLocalLimits', () => {
  it('returns the bucket of the most specific level, and that of connections', () => {
    const listener = {
      httpOptions: {
        httpLocalRatelimit: { defaultLimit: { maxTokens: 3 }, localRateLimitPerDownstreamConnection: true },
        networkLocalRatelimit: { maxTokens: 9 },
      },
    } as never;
    const limit = (maxTokens: number) => ({ ratelimitEarly: { localRatelimit: { maxTokens } } });
    const found = (parts: Parts) => explainLocalLimits({ listener, ...placeOf(parts) });
    const network = { maxTokens: 9 };
    const http = (level: string, maxTokens: number) => ({
      network,
      http: { level, bucket: { maxTokens }, perConnection: true },
    });
    expect(found({})).to.deep.equal(http('listener', 3));
    expect(found({ hostOptions: limit(2) })).to.deep.equal(http('virtual host', 2));
    expect(found({ hostOptions: limit(2), options: limit(1) })).to.deep.equal(http('route', 1));
  });

  it('returns nothing without limits', () => {
    expect(explainLocalLimits({ listener: { httpOptions: {} } as never, ...placeOf({}) })).to.equal(undefined);
  });
});
