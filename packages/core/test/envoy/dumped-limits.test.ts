import type { Route, SnapshotSettings, VirtualHost } from '../../src/index.ts';
import { expect } from 'chai';
import { dumpedLimitFilters, rateLimitsOfHost, rateLimitsOfRoute } from '../../src/envoy/dumped-limits.ts';
import { limitUsageOf } from '../../src/envoy/limit-usage.ts';

const SETTINGS = { requireRbac: false };
const EARLY = { ...SETTINGS, ratelimitServer: { rateLimitBeforeAuth: true } };
const refs = { refs: [{ name: 'limits', namespace: 'team' }] };
const address = { rateLimits: [{ actions: [{ remoteAddress: {} }] }] };
const spec = { raw: { rateLimits: [{ setActions: [{ genericKey: { descriptorValue: 'a' } }] }] } };
const hostWith = (options: VirtualHost['options']) =>
  ({
    name: 'gw-system.shop',
    options,
    rateLimitConfigs: [{ ref: { name: 'limits', namespace: 'team' }, spec }],
  }) as unknown as VirtualHost;
const routeWith = (options: Route['options']) => ({ name: 'gw-system.shop-route-3-search', options }) as Route;

const filtersOf = (levels: object[], settings: SnapshotSettings = SETTINGS) =>
  dumpedLimitFilters(new Set(levels.flatMap(limitUsageOf)), settings);

describe('rate limits in the dump', () => {
  it('name the RateLimitConfig and mark sets', () => {
    const entry = {
      actions: [
        { generic_key: { descriptor_value: 'team.limits' } },
        { generic_key: { descriptor_value: 'vendor.setDescriptor.uniqueValue' } },
        { generic_key: { descriptor_value: 'a' } },
      ],
    };
    expect(rateLimitsOfHost(hostWith({ rateLimitConfigs: refs }), SETTINGS)).to.deep.equal([entry]);
    expect(rateLimitsOfHost(hostWith({ rateLimitConfigs: refs }), EARLY)).to.deep.equal([{ stage: 1, ...entry }]);
    expect(rateLimitsOfHost(hostWith({ rateLimitEarlyConfigs: refs }), SETTINGS)).to.deep.equal([
      { stage: 1, ...entry },
    ]);
    expect(rateLimitsOfHost(hostWith({}), SETTINGS)).to.equal(undefined);
  });

  it('of users are counted by virtual host and route', () => {
    const limit = { requestsPerUnit: 1, unit: 'SECOND' } as const;
    const route = routeWith({
      ratelimitBasic: { anonymousLimits: limit, authorizedLimits: limit },
      ratelimit: { includeVhRateLimits: true },
    });
    const headers = [{ name: 'x-person', present_match: true }];
    const settings = { ...SETTINGS, extauth: { userIdHeader: 'x-person' } };
    const name = { generic_key: { descriptor_value: 'gw-system.shop.search' } };
    expect(rateLimitsOfRoute(route, hostWith({}), settings)).to.deep.equal({
      rate_limits: [
        {
          actions: [
            name,
            { header_value_match: { descriptor_value: 'not-authenticated', expect_match: false, headers } },
            { remote_address: {} },
          ],
        },
        {
          actions: [
            name,
            { header_value_match: { descriptor_value: 'is-authenticated', expect_match: true, headers } },
            { request_headers: { header_name: 'x-person', descriptor_key: 'user_id' } },
          ],
        },
      ],
      include_vh_rate_limits: true,
    });
  });

  it('have filters where levels use them', () => {
    const none = filtersOf([{}]);
    expect([none.early[1], none.regular[1]]).to.deep.equal([undefined, undefined]);
    const server = { denyOnFail: true, enableXRatelimitHeaders: true, requestTimeout: '0.25s' };
    const { early, regular } = filtersOf([{ ratelimit: address }], { ...SETTINGS, ratelimitServer: server });
    expect(early).to.deep.equal(['envoy.filters.http.ratelimit.early', undefined]);
    expect(regular).to.deep.equal([
      'envoy.filters.http.ratelimit',
      {
        '@type': 'type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit',
        domain: 'custom',
        stage: 0,
        timeout: '0.250s',
        failure_mode_deny: true,
        enable_x_ratelimit_headers: 'DRAFT_VERSION_03',
      },
    ]);
    const moved = filtersOf([{ ratelimitBasic: {} }], EARLY);
    expect(moved.early[1]).to.include({ stage: 1, timeout: '0.100s' });
    expect(moved.regular[1]).to.equal(undefined);
  });
});
