import { expect } from 'chai';
import type { RateLimitActions, RateLimitConcurrency, RateLimitLevel } from '@edge-gateway/core/schema';
import { optionSetsAt, type LimitStage } from '../../src/concern/limit-option-sets.ts';

const limits = (descriptorValue: string): RateLimitActions[] => [{ actions: [{ genericKey: { descriptorValue } }] }];
const HOST = limits('host');
const ROUTE = limits('route');
const refs = (...names: string[]) => ({ refs: names.map((name) => ({ name, namespace: 'shop' })) });
const inFlight = (maxInFlight: number): RateLimitConcurrency[] => [{ actions: [{ remoteAddress: {} }], maxInFlight }];

const at = (host: RateLimitLevel, route: RateLimitLevel) =>
  optionSetsAt({ host, route, routeOptions: {} }, 'rateLimit', 'rateLimit')[0]!;
const listed = (host: RateLimitLevel, route: RateLimitLevel) => {
  const optionSet = at(host, route);
  return [...optionSet.rateLimits, ...optionSet.refs.map(({ name }) => name)];
};

describe('the limits of a route', () => {
  it('replace the limits and references of the virtual host, both by either', () => {
    const host = { ratelimit: { rateLimits: HOST }, rateLimitConfigs: refs('a') };
    expect(listed(host, {})).to.deep.equal([...HOST, 'a']);
    expect(listed(host, { rateLimitConfigs: refs('b') })).to.deep.equal(['b']);
    expect(listed(host, { ratelimit: { rateLimits: ROUTE } })).to.deep.equal(ROUTE);
  });

  it('follow those of the virtual host if it includes them', () => {
    const route = { ratelimit: { rateLimits: ROUTE, includeVhRateLimits: true }, rateLimitConfigs: refs('b') };
    const host = { ratelimit: { rateLimits: HOST }, rateLimitConfigs: refs('a') };
    expect(listed(host, route)).to.deep.equal([...HOST, ...ROUTE, 'a', 'b']);
  });

  it('replace limits of requests in flight apart from the others', () => {
    const host = { ratelimit: { rateLimits: HOST, concurrency: inFlight(1) } };
    const levelsOf = (route: RateLimitLevel) =>
      at(host, route).concurrency.map((each) => [each.level, each.limits[0]!.maxInFlight]);
    expect(levelsOf({ ratelimit: { rateLimits: ROUTE } })).to.deep.equal([['host', 1]]);
    expect(levelsOf({ ratelimit: { concurrency: inFlight(2) } })).to.deep.equal([['route', 2]]);
    expect(listed(host, { ratelimit: { concurrency: inFlight(2) } })).to.deep.equal(HOST);
  });

  it('override retryAfter of the virtual host, false too', () => {
    const toldBy = (host: boolean | undefined, route: boolean | undefined): boolean =>
      at({ ratelimit: { retryAfter: host! } }, { ratelimit: { retryAfter: route! } }).retryAfter;
    expect([toldBy(true, false), toldBy(false, true), toldBy(true, undefined)]).to.deep.equal([false, true, true]);
    expect([toldBy(undefined, undefined), toldBy(false, undefined)]).to.deep.equal([true, false]);
  });

  it('belong to the stage of their optionSet, or to the given one', () => {
    const host = {
      ratelimit: { rateLimits: limits('unstaged') },
      ratelimitEarly: { rateLimits: limits('early') },
      ratelimitRegular: { rateLimits: limits('regular') },
    };
    const block = { host, route: {}, routeOptions: {} };
    const valuesAt = (stage: LimitStage, unstaged: LimitStage) =>
      optionSetsAt(block, stage, unstaged).flatMap(({ rateLimits }) =>
        rateLimits.map(({ actions }) => actions![0]!.genericKey!.descriptorValue),
      );
    expect(valuesAt('rateLimitEarly', 'rateLimit')).to.deep.equal(['early']);
    expect(valuesAt('rateLimit', 'rateLimit')).to.deep.equal(['unstaged', 'regular']);
    expect(valuesAt('rateLimitEarly', 'rateLimitEarly')).to.deep.equal(['unstaged', 'early']);
  });
});
