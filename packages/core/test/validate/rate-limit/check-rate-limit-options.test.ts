import { expect } from 'chai';
import { formatPath } from '../../../src/resource/problem.ts';
import { checkBucket } from '../../../src/validate/rate-limit/limits.ts';
import { checkRateLimitOptions } from '../../../src/validate/rate-limit/check-rate-limit-options.ts';
import { checkRateLimitServer } from '../../../src/validate/rate-limit/check-limit-server.ts';
import type { RateLimitActions } from '../../../src/schema/route/rate-limit.ts';
import type { Check } from '../../../src/validate/check.ts';

function problemsOf<T>(check: Check<T>, part: T): string[] {
  return check(part, ['options']).map(
    ({ path, message, severity }) => `${severity ?? 'error'} ${formatPath(path)}: ${message}`,
  );
}
const ofLimit = (limit: RateLimitActions): string[] =>
  problemsOf(checkRateLimitOptions, { ratelimit: { rateLimits: [limit] } }).map((text) =>
    text.replace('options.ratelimit.rateLimits[0]', 'limit'),
  );

describe('rate limits of virtual hosts and routes', () => {
  it('may have every action', () => {
    const actions = [
      { sourceCluster: {} },
      { destinationCluster: {} },
      { remoteAddress: {} },
      { genericKey: { descriptorValue: 'a' } },
      { requestHeaders: { headerName: ':path', descriptorKey: 'path' } },
      { headerValueMatch: { descriptorValue: 'a', headers: [{ name: 'x-a', rangeMatch: { start: -1, end: 0 } }] } },
      { metadata: { descriptorKey: 'a', metadataKey: { key: 'a', path: [{ key: 'b' }] } } },
    ];
    expect(ofLimit({ actions, setActions: actions, type: 'REQUEST', cost: { graphqlComplexity: {} } })).to.deep.equal(
      [],
    );
  });

  const limits: [string, RateLimitActions, string[]][] = [
    ['no actions', { actions: [] }, ['error limit: a rate limit must have actions']],
    [
      'too many actions',
      { setActions: Array.from({ length: 17 }, () => ({ remoteAddress: {} })) },
      ['error limit.setActions: 17 actions: at most 16 are allowed'],
    ],
    [
      'invalid header names',
      {
        actions: [
          { requestHeaders: { headerName: ':status', descriptorKey: 'a' } },
          { headerValueMatch: { descriptorValue: 'a', headers: [{ name: 'x y' }] } },
        ],
        cost: { header: { headerName: 'a\nb' } },
      },
      [
        "error limit.actions[0].requestHeaders.headerName: invalid header name ':status'",
        "error limit.actions[1].headerValueMatch.headers[0].name: invalid header name 'x y'",
        "error limit.cost.header.headerName: invalid header name 'a\nb'",
      ],
    ],
    [
      'empty keys and values',
      {
        actions: [
          { genericKey: { descriptorValue: '' } },
          { headerValueMatch: { descriptorValue: '', headers: [] } },
          { metadata: { descriptorKey: '', metadataKey: { key: '' } } },
        ],
      },
      [
        'error limit.actions[0].genericKey.descriptorValue: descriptorValue must not be empty',
        'error limit.actions[1].headerValueMatch.descriptorValue: descriptorValue must not be empty',
        'error limit.actions[1].headerValueMatch.headers: headerValueMatch needs headers',
        'error limit.actions[2].metadata.descriptorKey: descriptorKey must not be empty',
        'error limit.actions[2].metadata.metadataKey.key: key must not be empty',
      ],
    ],
    [
      'an empty range',
      {
        actions: [
          { headerValueMatch: { descriptorValue: 'a', headers: [{ name: 'x-a', rangeMatch: { start: 2, end: 2 } }] } },
        ],
      },
      [
        'warning limit.actions[0].headerValueMatch.headers[0].rangeMatch: no number is in the range from 2 to 2, exclusive',
      ],
    ],
    [
      'the tokens of language models',
      { actions: [{ remoteAddress: {} }], type: 'TOKEN' },
      ['error limit.type: type TOKEN is not supported: only requests are counted'],
    ],
  ];
  for (const [what, limit, problems] of limits) {
    it(`report ${what}`, () => {
      expect(ofLimit(limit)).to.deep.equal(problems);
    });
  }

  it('are 128 per block at most', () => {
    const rateLimits = Array.from({ length: 129 }, () => ({ actions: [{ remoteAddress: {} }] }));
    expect(problemsOf(checkRateLimitOptions, { ratelimitEarly: { rateLimits } })).to.deep.equal([
      'error options.ratelimitEarly.rateLimits: 129 rate limits: at most 128 are allowed',
    ]);
  });

  it('have one local limit, before auth', () => {
    const localRatelimit = { maxTokens: 1 };
    expect(problemsOf(checkRateLimitOptions, { ratelimitEarly: { localRatelimit } })).to.deep.equal([]);
    const everywhere = {
      ratelimit: { localRatelimit },
      ratelimitEarly: { localRatelimit },
      ratelimitRegular: { localRatelimit },
    };
    expect(problemsOf(checkRateLimitOptions, everywhere)).to.deep.equal([
      'error options.ratelimitRegular.localRatelimit: localRatelimit cannot be in ratelimitRegular, because local limits apply before auth',
      'error options.ratelimitEarly.localRatelimit: localRatelimit cannot be in both ratelimit and ratelimitEarly',
    ]);
  });

  it('report concurrency without actions, unnamed references, and limits for nobody', () => {
    const options = {
      ratelimitRegular: { concurrency: [{ maxInFlight: 1 }] },
      rateLimitConfigs: { refs: [{ name: 'a' }, {}] },
      rateLimitEarlyConfigs: {},
      ratelimitBasic: {},
    };
    expect(problemsOf(checkRateLimitOptions, options)).to.deep.equal([
      'error options.ratelimitRegular.concurrency[0]: a rate limit must have actions',
      'warning options.ratelimitBasic: ratelimitBasic without limits allows every request',
      'error options.rateLimitConfigs.refs[1]: the reference has no name',
      'warning options.rateLimitEarlyConfigs: no RateLimitConfig is listed',
    ]);
  });
});

describe('token buckets', () => {
  for (const fillInterval of ['50ms', '0.05s', '10000h']) {
    it(`are filled every ${fillInterval}`, () => {
      expect(problemsOf(checkBucket, { maxTokens: 1, fillInterval })).to.deep.equal([]);
    });
  }
  for (const fillInterval of ['0s', '49ms', '49.999ms']) {
    it(`are not filled every ${fillInterval}`, () => {
      expect(problemsOf(checkBucket, { maxTokens: 1, fillInterval })).to.deep.equal([
        `error options.fillInterval: invalid fillInterval ${fillInterval}: it must be at least 50ms`,
      ]);
    });
  }
});

describe('the rate limit server', () => {
  it('has a name and a timeout of up to 1h', () => {
    expect(problemsOf(checkRateLimitServer, { requestTimeout: '1h', ratelimitServerRef: { name: 'a' } })).to.deep.equal(
      [],
    );
    expect(problemsOf(checkRateLimitServer, { requestTimeout: '61m', ratelimitServerRef: {} })).to.deep.equal([
      'error options.requestTimeout: invalid requestTimeout 61m: it must be greater than 0s and at most 1h',
      'error options.ratelimitServerRef: ratelimitServerRef needs a name',
    ]);
    expect(problemsOf(checkRateLimitServer, { requestTimeout: '0s' })).to.have.length(1);
  });
});
