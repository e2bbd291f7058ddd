import { expect } from 'chai';
import { limitUsageOf, LOCAL_USAGE } from '../../src/envoy/limit-usage.ts';
import { LOCAL_LIMITS, localLimitFilter, localLimitOf } from '../../src/envoy/local-limits.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit';
const ALWAYS = { default_value: { numerator: 100 } };

describe('local rate limits', () => {
  it('have the bucket of the listener', () => {
    const httpLocalRatelimit = { defaultLimit: { maxTokens: 9 }, enableXRatelimitHeaders: true };
    const filter = {
      '@type': TYPE,
      stat_prefix: 'http_local_rate_limiter',
      token_bucket: { max_tokens: 9, tokens_per_fill: 1, fill_interval: '1s' },
      enable_x_ratelimit_headers: 'DRAFT_VERSION_03',
    };
    expect(localLimitFilter({ httpLocalRatelimit }, {})).to.deep.equal(filter);
    expect(localLimitFilter({ httpLocalRatelimit }, { services: {} }), 'an Envoy counts only by default').to.deep.equal(
      {
        ...filter,
        filter_enabled: ALWAYS,
        filter_enforced: ALWAYS,
      },
    );
    expect(localLimitFilter({}, { services: {} })).to.not.have.any.keys('token_bucket', 'filter_enforced');
  });

  it('have the buckets of virtual hosts and routes', () => {
    const level = { ratelimitEarly: { localRatelimit: { maxTokens: 2, tokensPerFill: 2, fillInterval: '50ms' } } };
    const limit = {
      '@type': TYPE,
      stat_prefix: 'http_local_rate_limiter',
      token_bucket: { max_tokens: 2, tokens_per_fill: 2, fill_interval: '0.050s' },
    };
    expect(localLimitOf(level, {})[LOCAL_LIMITS]).to.deep.equal(limit);
    expect(localLimitOf(level, { services: {} })[LOCAL_LIMITS]).to.deep.equal({
      ...limit,
      filter_enabled: ALWAYS,
      filter_enforced: ALWAYS,
    });
    expect(limitUsageOf(level)).to.deep.equal([LOCAL_USAGE]);
    expect(localLimitOf({}, {})[LOCAL_LIMITS]).to.equal(undefined);
  });
});
