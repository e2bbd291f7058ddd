import type { Route, SnapshotSettings, VirtualHost } from '../../src/index.ts';
import { expect } from 'chai';
import {
  limitUsageOf,
  localLimitOf,
  rateLimitFilters,
  rateLimitsOfHost,
  rateLimitsOfRoute,
} from '../../src/envoy/rate-limits.ts';

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

const filtersOf = (levels: object[], options: object, settings: SnapshotSettings = SETTINGS) =>
  rateLimitFilters(new Set(levels.flatMap(limitUsageOf)), options, { settings });

const LOCAL_TYPE = 'type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit';

describe('rate limits in the dump', () => {
  it('have every kind of action', () => {
    const headers = [
      { name: 'a', exactMatch: 'x', invertMatch: true },
      { name: 'b', regexMatch: 'y.*' },
      { name: 'c', rangeMatch: { start: 1, end: 5 } },
      { name: 'd', presentMatch: true },
    ];
    const metadata = { descriptorKey: 'org', metadataKey: { key: 'k', path: [{ key: 'p' }] }, defaultValue: 'none' };
    const actions = [
      { sourceCluster: {} },
      { destinationCluster: {} },
      { remoteAddress: {} },
      { requestHeaders: { headerName: ':path', descriptorKey: 'path' } },
      { headerValueMatch: { descriptorValue: 'v', expectMatch: false, headers } },
      { metadata },
    ];
    const limit = { dynamicMetadata: { metadataKey: { key: 'quota' } } };
    const host = hostWith({
      ratelimit: { rateLimits: [{ actions, limit, cost: { header: { headerName: 'x-cost' } } }] },
    });
    expect(rateLimitsOfHost(host, SETTINGS)).to.deep.equal([
      {
        actions: [
          { source_cluster: {} },
          { destination_cluster: {} },
          { remote_address: {} },
          { request_headers: { header_name: ':path', descriptor_key: 'path' } },
          {
            header_value_match: {
              descriptor_value: 'v',
              expect_match: false,
              headers: [
                { name: 'a', string_match: { exact: 'x' }, invert_match: true },
                { name: 'b', string_match: { safe_regex: { regex: 'y.*' } } },
                { name: 'c', range_match: { start: 1, end: 5 } },
                { name: 'd', present_match: true },
              ],
            },
          },
          {
            metadata: {
              descriptor_key: 'org',
              metadata_key: { key: 'k', path: [{ key: 'p' }] },
              default_value: 'none',
            },
          },
        ],
        limit: { dynamic_metadata: { metadata_key: { key: 'quota' } } },
        hits_addend: { format: '%REQ(x-cost)%' },
      },
    ]);
  });

  it('contain no credentials', () => {
    const headers = [
      { name: 'authorization', exactMatch: 'MARKER' },
      { name: 'x-api-key', regexMatch: 'MARKER' },
    ];
    const actions = [{ headerValueMatch: { descriptorValue: 'v', headers } }];
    const limits = rateLimitsOfHost(hostWith({ ratelimit: { rateLimits: [{ actions }] } }), SETTINGS);
    expect(JSON.stringify(limits)).to.contain('authorization').and.not.contain('MARKER');
  });

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
    const none = filtersOf([{}], {});
    expect([none.local[1], none.early[1], none.regular[1]]).to.deep.equal([undefined, undefined, undefined]);
    const server = { denyOnFail: true, enableXRatelimitHeaders: true, requestTimeout: '0.25s' };
    const { early, regular } = filtersOf([{ ratelimit: address }], {}, { ...SETTINGS, ratelimitServer: server });
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
    const moved = filtersOf([{ ratelimitBasic: {} }], {}, EARLY);
    expect(moved.early[1]).to.include({ stage: 1, timeout: '0.100s' });
    expect(moved.regular[1]).to.equal(undefined);
  });

  it('have the bucket of the listener, and those of virtual hosts and routes', () => {
    const httpLocalRatelimit = { defaultLimit: { maxTokens: 9 }, enableXRatelimitHeaders: true };
    expect(filtersOf([], { httpLocalRatelimit }).local[1]).to.deep.equal({
      '@type': LOCAL_TYPE,
      stat_prefix: 'http_local_rate_limiter',
      token_bucket: { max_tokens: 9, tokens_per_fill: 1, fill_interval: '1s' },
      enable_x_ratelimit_headers: 'DRAFT_VERSION_03',
    });
    const level = { ratelimitEarly: { localRatelimit: { maxTokens: 2, tokensPerFill: 2, fillInterval: '50ms' } } };
    expect(localLimitOf(level, {})['envoy.filters.http.local_ratelimit']).to.deep.equal({
      '@type': LOCAL_TYPE,
      stat_prefix: 'http_local_rate_limiter',
      token_bucket: { max_tokens: 2, tokens_per_fill: 2, fill_interval: '0.050s' },
    });
    expect(filtersOf([level], {}).local[1]).to.not.equal(undefined);
    expect(localLimitOf({}, {})['envoy.filters.http.local_ratelimit']).to.equal(undefined);
  });
});
