import { expect } from 'chai';
import { createMemoryStore, SET_MARKER, type Store, type WireRequest, type WireResponse } from '../../src/index.ts';
import { NOW, PER_USER, serve, stateOf, tuple, type ServedResources } from './service-harness.ts';

const OK = 1;
const OVER_LIMIT = 2;
const MINUTE = 2;

describe('the rate limit service', () => {
  /** Returns the response; the counters are in memory. */
  const respond = (service: { check(request: WireRequest, ms: number): unknown }, request: WireRequest) =>
    service.check(request, 100) as WireResponse;

  async function codes(
    resources: ServedResources,
    ...requests: readonly WireRequest[]
  ): Promise<(number | undefined)[]> {
    const { service } = await serve(resources);
    return requests.map((request) => respond(service, request).overallCode);
  }
  const of = (domain: string, ...descriptors: NonNullable<WireRequest['descriptors']>): WireRequest => ({
    domain,
    descriptors,
  });
  const alice = of('custom', tuple(['user', 'alice']));

  it('states limit, requests left and seconds until the reset', async () => {
    const { service } = await serve(PER_USER);
    const currentLimit = { requestsPerUnit: 1, unit: MINUTE, name: 'custom.user' };
    const durationUntilReset = { seconds: 30 };
    expect(respond(service, alice)).to.deep.equal({
      overallCode: OK,
      statuses: [{ code: OK, currentLimit, limitRemaining: 0, durationUntilReset }],
    });
    const over = respond(service, alice);
    expect(over).to.include({ overallCode: OVER_LIMIT });
    expect(over.statuses).to.deep.equal([{ code: OVER_LIMIT, currentLimit, limitRemaining: 0, durationUntilReset }]);
    expect(respond(service, of('custom', tuple(['user', 'bob']))).overallCode).to.equal(OK);
  });

  it('limits neither unknown domains nor descriptors without a rule', async () => {
    const { service } = await serve(PER_USER);
    for (const request of [
      of('envoy', tuple(['user', 'a'])),
      of('custom', tuple(['plan', 'a'])),
      of('basic', tuple(['user', 'a'])),
    ]) {
      for (let i = 0; i < 3; i++)
        expect(respond(service, request)).to.deep.equal({ overallCode: OK, statuses: [{ code: OK }] });
    }
  });

  it('has one status per descriptor, in their order', async () => {
    const { service } = await serve(PER_USER);
    respond(service, alice);
    const request = of('custom', tuple(['plan', 'x']), tuple(['user', 'alice']), tuple(['user', 'bob']));
    const { overallCode, statuses } = respond(service, request);
    expect(overallCode).to.equal(OVER_LIMIT);
    expect(statuses!.map(({ code }) => code)).to.deep.equal([OK, OVER_LIMIT, OK]);
    expect(statuses!.map(({ currentLimit }) => currentLimit?.name)).to.deep.equal([
      undefined,
      'custom.user',
      'custom.user',
    ]);
  });

  it('matches sets by their marker, in any order', async () => {
    const rules: ServedResources = {
      settings: {
        setDescriptors: [
          {
            simpleDescriptors: [{ key: 'a', value: '1' }, { key: 'b' }],
            rateLimit: { requestsPerUnit: 1, unit: 'HOUR' },
          },
        ],
      },
    };
    const set = (...pairs: readonly (readonly [string, string])[]) =>
      of('custom', tuple(['generic_key', SET_MARKER], ...pairs));
    expect(
      await codes(
        rules,
        set(['a', '1'], ['b', '2']),
        set(['b', '2'], ['c', '3'], ['a', '1']),
        set(['a', '1'], ['b', '3']),
      ),
    ).to.deep.equal([OK, OVER_LIMIT, OK]);
    expect(
      await codes(rules, of('custom', tuple(['a', '1'], ['b', '2'])), of('custom', tuple(['a', '1'], ['b', '2']))),
    ).to.deep.equal([OK, OK]);
  });

  it('keeps the rules of RateLimitConfigs apart by their first entry', async () => {
    const raw = (requestsPerUnit: number) => ({
      rateLimits: [{ actions: [{ requestHeaders: { headerName: 'x-user', descriptorKey: 'user' } }] }],
      descriptors: [{ key: 'user', rateLimit: { requestsPerUnit, unit: 'HOUR' as const } }],
      setDescriptors: [{ simpleDescriptors: [{ key: 'x' }], rateLimit: { requestsPerUnit, unit: 'HOUR' as const } }],
    });
    const configs = { 'n/one': raw(1), 'n/two': raw(2) };
    const ask = (name: string) => of('vendor.io', tuple(['generic_key', `n.${name}`], ['user', 'a']));
    const askSet = (name: string) =>
      of('vendor.io', tuple(['generic_key', `n.${name}`], ['generic_key', SET_MARKER], ['x', 'a']));
    expect(
      await codes({ configs }, ask('one'), ask('two'), ask('one'), ask('two'), ask('two'), ask('none')),
    ).to.deep.equal([OK, OK, OVER_LIMIT, OK, OVER_LIMIT, OK]);
    expect(await codes({ configs }, askSet('one'), askSet('two'), askSet('one'), askSet('two'))).to.deep.equal([
      OK,
      OK,
      OVER_LIMIT,
      OK,
    ]);
  });

  it('serves ratelimitBasic of virtual hosts and routes', async () => {
    const virtualHosts = {
      'n/shop': {
        options: { ratelimitBasic: { anonymousLimits: { requestsPerUnit: 1, unit: 'HOUR' } } },
        routes: [
          {
            name: 'orders',
            matchers: [{ prefix: '/' }],
            routeAction: { single: { upstream: { name: 'up', namespace: 'gw-system' } } },
            options: { ratelimitBasic: { authorizedLimits: { requestsPerUnit: 2, unit: 'HOUR' } } },
          },
        ],
      },
    };
    const anonymous = of(
      'basic',
      tuple(['generic_key', 'n.shop'], ['header_match', 'not-authenticated'], ['remote_address', '192.0.2.1']),
    );
    const user = of(
      'basic',
      tuple(['generic_key', 'n.shop/orders'], ['header_match', 'is-authenticated'], ['user_id', 'alice']),
    );
    expect(await codes({ virtualHosts }, anonymous, anonymous, user, user, user)).to.deep.equal([
      OK,
      OVER_LIMIT,
      OK,
      OK,
      OVER_LIMIT,
    ]);
    const { service } = await serve({ virtualHosts });
    expect(service.ruleLines()).to.deep.equal([
      'basic.generic_key_n.shop.header_match_not-authenticated.remote_address: unit=HOUR requests_per_unit=1 weight=0 always_apply=false',
      'basic.generic_key_n.shop/orders.header_match_is-authenticated.user_id: unit=HOUR requests_per_unit=2 weight=0 always_apply=false',
    ]);
  });

  it('applies the limit and the cost of a descriptor', async () => {
    const override = { ...tuple(['user', 'alice']), limit: { requestsPerUnit: 3, unit: MINUTE } };
    expect(await codes(PER_USER, ...Array.from({ length: 4 }, () => of('custom', override)))).to.deep.equal([
      OK,
      OK,
      OK,
      OVER_LIMIT,
    ]);
    const costly = { ...of('custom', override), hitsAddend: 3 };
    expect(await codes(PER_USER, costly, of('custom', override))).to.deep.equal([OK, OVER_LIMIT]);
    const own = of('custom', { ...override, hitsAddend: { value: 2 } });
    expect(await codes(PER_USER, own, own)).to.deep.equal([OK, OVER_LIMIT]);
    const read = of('custom', { ...override, hitsAddend: { value: 0 } });
    expect(await codes(PER_USER, read, read, read, read, costly)).to.deep.equal([OK, OK, OK, OK, OK]);
    const huge = of('custom', { ...tuple(['user', 'a']), hitsAddend: { value: 2 ** 64 } });
    expect(await codes(PER_USER, huge, huge)).to.deep.equal([OVER_LIMIT, OVER_LIMIT]);
  });

  it('counts shadow rules without a limit in the response, and names them when they are over', async () => {
    const settings = {
      descriptors: [{ key: 'user', shadow: true, rateLimit: { requestsPerUnit: 1, unit: 'MINUTE' as const } }],
    };
    const { service } = await serve({ settings });
    expect(respond(service, alice)).to.deep.equal({ overallCode: OK, statuses: [{ code: OK }] });
    const over = respond(service, alice);
    expect(over).to.include({ overallCode: OK });
    expect(over.statuses).to.deep.equal([{ code: OK }]);
    expect(over.dynamicMetadata).to.deep.equal({ fields: { shadow_over_limit: { stringValue: 'custom.user' } } });
  });

  it('sends names that cannot end a quoted header', async () => {
    const settings = {
      descriptors: [
        { key: 'generic_key', value: 'a"\r\nx: é,', rateLimit: { requestsPerUnit: 1, unit: 'MINUTE' as const } },
      ],
    };
    const { service } = await serve({ settings });
    const { statuses } = respond(service, of('custom', tuple(['generic_key', 'a"\r\nx: é,'])));
    expect(statuses![0]!.currentLimit!.name).to.equal('custom.generic_key_a___x: __');
  });

  it('keeps counters when rules change, and forgets removed rules', async () => {
    const { service } = await serve(PER_USER);
    expect(respond(service, alice).overallCode).to.equal(OK);
    service.update(await stateOf({ settings: { descriptors: [...PER_USER.settings!.descriptors!, { key: 'plan' }] } }));
    expect(respond(service, alice).overallCode).to.equal(OVER_LIMIT);
    service.update(await stateOf({}));
    expect(respond(service, alice).overallCode).to.equal(OK);
    expect(service.ruleLines()).to.deep.equal([]);
  });

  it('applies changed rules of all sources', async () => {
    const limited = (requestsPerUnit: number): ServedResources => {
      const rateLimit = { requestsPerUnit, unit: 'MINUTE' } as const;
      const rules = { descriptors: [{ key: 'user', rateLimit }] };
      const rateLimits = [{ actions: [{ requestHeaders: { headerName: 'x-user', descriptorKey: 'user' } }] }];
      const routes = [
        { matchers: [{ prefix: '/' }], routeAction: { single: { upstream: { name: 'up', namespace: 'gw-system' } } } },
      ];
      const options = { ratelimitBasic: { anonymousLimits: rateLimit } };
      return {
        settings: rules,
        configs: { 'shop/plans': { ...rules, rateLimits } },
        virtualHosts: { 'gw-system/shop': { options, routes } },
      };
    };
    const { service } = await serve(limited(1));
    service.update(await stateOf(limited(7)));
    const limits = service.ruleLines().map((line) => /requests_per_unit=(\d+)/.exec(line)?.[1]);
    expect(limits).to.deep.equal(['7', '7', '7']);
  });

  for (const key of ['Authorization', 'api_key', 'client-secret', 'session_token']) {
    it(`does not keep the values of secrets: ${key}`, async () => {
      const memory = createMemoryStore({ now: () => NOW });
      const charged: unknown[] = [];
      const store: Store = {
        count(charges) {
          charged.push(...charges.map((charge) => [/hunter2/.test(charge.key), charge.isSecret]));
          return memory.count(charges);
        },
        close() {},
      };
      const { service } = await serve(
        { settings: { descriptors: [{ key, rateLimit: { requestsPerUnit: 1, unit: 'MINUTE' } }] } },
        { store },
      );
      respond(service, of('custom', tuple([key, 'hunter2'])));
      expect(charged).to.deep.equal([[false, true]]);
    });
  }

  it('rejects invalid requests by name', async () => {
    const { service } = await serve(PER_USER);
    const messageOf = (request: WireRequest): string => {
      try {
        respond(service, request);
      } catch (error) {
        expect(error).to.include({ code: 'ERR_RATE_LIMIT_REQUEST', status: 400 });
        return (error as Error).message;
      }
      return 'accepted';
    };
    expect(messageOf({})).to.include('domain must not be empty');
    expect(messageOf({ domain: 'custom' })).to.include('descriptors must not be empty');
    expect(messageOf(of('custom', ...Array.from({ length: 1001 }, () => ({}))))).to.include(
      'more than 1000 descriptors',
    );
    const entries = Array.from({ length: 10_001 }, () => ({}));
    expect(messageOf(of('custom', { entries }))).to.include('more than 10000 entries');
    expect(messageOf(of('custom', { ...tuple(['user', 'a']), limit: { requestsPerUnit: 1, unit: 99 } }))).to.include(
      'invalid unit 99',
    );
    expect(messageOf(of('custom', { ...tuple(['user', 'a']), limit: {} }))).to.include('invalid unit 0');
    expect(messageOf(of('custom', { ...tuple(['user', 'a']), isNegativeHits: true }))).to.include(
      'refunds are not supported',
    );
    expect(messageOf(of('custom', { entries: [{}] }))).to.equal('accepted');
  });

  it('rejects when the store fails, and checks beyond those that may wait for it', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const store: Store = { count: () => promise, close() {} };
    const { service, context } = await serve(PER_USER, { store, maxChecks: 1 });
    const pending = service.check(alice, 100) as Promise<WireResponse>;
    expect(service.active).to.equal(1);
    expect(() => service.check(alice, 100)).to.throw('too many checks');
    reject(new Error('down'));
    expect(await pending.catch((error: Error) => error.message)).to.equal('down');
    expect(service.active).to.equal(0);
    const errors = context.metrics.list().filter(({ name }) => name.metric === 'ratelimit_vendor_io_errors');
    expect(errors.map(({ name, stat }) => [name.labels, (stat as { value: number }).value])).to.deep.equal([
      [{ type: 'overload' }, 1],
      [{ type: 'store' }, 1],
    ]);
  });

  it('passes the deadline of a request to the store', async () => {
    const memory = createMemoryStore({ now: () => NOW });
    const deadlines: number[] = [];
    const store: Store = {
      count(charges, deadlineMs) {
        deadlines.push(deadlineMs);
        return memory.count(charges);
      },
      close() {},
    };
    const { service } = await serve(PER_USER, { store });
    service.check(alice, 25);
    expect(deadlines).to.deep.equal([25]);
  });
});
