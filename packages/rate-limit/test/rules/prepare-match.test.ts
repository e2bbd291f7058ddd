import { expect } from 'chai';
import type {
  RateLimit,
  RateLimitAction,
  RateLimitActions,
  RateLimitDescriptor,
  RateLimitRules,
  RateLimitSetDescriptor,
} from '@edge-gateway/core/schema';
import {
  compileRules,
  createMemoryStore,
  embeddedLimiter,
  type Charge,
  type Decision,
  type DescribedRequest,
  type RuleSet,
  type Store,
} from '@edge-gateway/rate-limit';
import { compileDescriptors, descriptorsOfAll } from '../../src/descriptor/compile-actions.ts';
import { compileBasic } from '../../src/descriptor/compile-basic.ts';
import { prepareMatch } from '../../src/rules/prepare-match.ts';
import { describedRequest } from '../descriptor/described-request.ts';
import { seeded, type Random } from '../random.ts';

const KEYS = ['a', 'b', 'generic_key', 'header_match', 'remote_address', 'api_key'];
const VALUES = ['1', '2', '|1|2', 'x.y'];
const HEADERS = ['x-a', 'x-b', 'authorization'];
const RESOURCES = ['x.y', 'x.z'];

function limit(random: Random): RateLimit {
  return {
    requestsPerUnit: random.integer(4),
    unit: random.pick(['MINUTE', 'HOUR'] as const),
    algorithm: random.pick(['FIXED_WINDOW', 'SLIDING_WINDOW', 'TOKEN_BUCKET'] as const),
  };
}

function common(random: Random) {
  return {
    ...(random.chance(0.8) && { rateLimit: limit(random) }),
    ...(random.chance(0.2) && { alwaysApply: true }),
    ...(random.chance(0.2) && { shadow: true }),
  };
}

function level(random: Random, depth: number): RateLimitDescriptor[] {
  const seen = new Set<string>();
  return random
    .list(4, (): RateLimitDescriptor => ({
      key: random.pick(KEYS),
      ...(random.chance(0.5) && { value: random.pick(VALUES) }),
      ...common(random),
      ...(random.chance(0.3) && { weight: random.integer(3) }),
      descriptors: depth > 0 ? level(random, depth - 1) : [],
    }))
    .filter(({ key, value }) => {
      const name = JSON.stringify([key, value]);
      return !seen.has(name) && seen.add(name);
    });
}

function rulesOf(random: Random): RateLimitRules {
  const setDescriptors = random.list(3, (): RateLimitSetDescriptor => ({
    simpleDescriptors: random.list(2, () => ({
      key: random.pick(KEYS),
      ...(random.chance(0.4) && { value: random.pick(VALUES) }),
    })),
    ...common(random),
  }));
  return { descriptors: level(random, 2), setDescriptors };
}

function action(random: Random): RateLimitAction {
  const name = random.pick(HEADERS);
  return random.pick<() => RateLimitAction>([
    () => ({ genericKey: { descriptorValue: random.pick(VALUES) } }),
    () => ({ remoteAddress: {} }),
    () => ({ requestHeaders: { headerName: name, descriptorKey: random.pick(KEYS) } }),
    () => ({ requestHeaders: { headerName: name, descriptorKey: random.pick(KEYS) } }),
    () => ({
      headerValueMatch: {
        descriptorValue: random.pick(VALUES),
        expectMatch: random.chance(0.7),
        headers: [{ name, exactMatch: random.pick(VALUES) }],
      },
    }),
    () => ({
      metadata: {
        descriptorKey: random.pick(KEYS),
        metadataKey: { key: 'claims', path: [{ key: random.pick(['id', 'plan']) }] },
        ...(random.chance(0.3) && { defaultValue: random.pick(VALUES) }),
      },
    }),
  ])();
}

function actionsOf(random: Random): RateLimitActions[] {
  return random.list(3, () => ({
    actions: random.list(3, () => action(random)),
    setActions: random.chance(0.3) ? random.list(3, () => action(random)) : [],
    ...(random.chance(0.2) && { cost: { header: { headerName: 'x-cost' } } }),
    ...(random.chance(0.2) && { limit: { dynamicMetadata: { metadataKey: { key: 'quota' } } } }),
  }));
}

function requestOf(random: Random): DescribedRequest {
  const value = (): string | undefined => (random.chance(0.7) ? random.pick(VALUES) : undefined);
  const headers = Object.fromEntries(
    HEADERS.flatMap((name) => {
      const text = value();
      return text === undefined ? [] : [[name, text] as const];
    }),
  );
  return describedRequest({
    clientAddress: random.chance(0.9) ? random.pick(['192.0.2.1', '192.0.2.2']) : undefined,
    userId: random.chance(0.3) ? 'ann' : undefined,
    headers: { ...headers, ...(random.chance(0.5) && { 'x-cost': String(random.integer(3)) }) },
    metadata: {
      claims: { id: value(), plan: random.chance(0.2) ? 5 : value() },
      ...(random.chance(0.3) && { quota: { requests_per_unit: random.integer(3), unit: 'DAY' } }),
    },
  });
}

/** What a decision says; those of prepared checks change with the next call. */
function read(decision: Decision | Promise<Decision> | undefined) {
  if (decision instanceof Promise) throw new Error('expected a value');
  if (!decision) return undefined;
  const { isAllowed, outcomes } = decision;
  return {
    isAllowed,
    outcomes: outcomes.map((each) => ({
      rule: each.rule,
      limit: each.limit,
      isShadow: each.isShadow,
      isOver: each.isOver,
      remaining: each.remaining,
      resetMs: each.resetMs,
    })),
  };
}

function recordingStore(): { readonly store: Store; readonly charges: object[] } {
  const memory = createMemoryStore({ now: () => Date.UTC(2027, 0, 1) });
  const charges: object[] = [];
  return {
    charges,
    store: {
      count(each: readonly Charge[]) {
        charges.push(...each.map(({ key, values, isSecret, limit, cost }) => ({ key, values, isSecret, limit, cost })));
        return memory.count(each);
      },
      close() {},
    },
  };
}

/** The case of a seed: rules, the descriptors of a route, and requests. */
function caseOf(seed: number) {
  const random = seeded(seed);
  const isOfResources = random.chance(0.4);
  const domain = isOfResources ? ('vendor.io' as const) : ('custom' as const);
  const resources = isOfResources ? RESOURCES : [undefined];
  const ruleSets: RuleSet[] = resources.map((resource) => compileRules(rulesOf(random), { domain, resource }));
  const descriptors = resources.flatMap((resource) => compileDescriptors(actionsOf(random), { resource }));
  const requests = Array.from({ length: 12 }, () => requestOf(random));
  return { domain, ruleSets, descriptors, requests };
}

const now = (): number => Date.UTC(2027, 0, 1);

describe('prepared checks', () => {
  it('decide as descriptors and rules do, in memory', () => {
    let prepared = 0;
    let over = 0;
    for (let seed = 0; seed < 1000; seed++) {
      const { domain, ruleSets, descriptors, requests } = caseOf(seed);
      const [plain, step] = [0, 1].map(() =>
        embeddedLimiter({ ruleSets: { [domain]: ruleSets }, store: createMemoryStore({ now }) }),
      ) as [ReturnType<typeof embeddedLimiter>, ReturnType<typeof embeddedLimiter>];
      const descriptorsOf = descriptorsOfAll(descriptors);
      const decide = step.prepare!(domain, descriptors);
      if (!decide) continue;
      prepared++;
      for (const request of requests) {
        const each = descriptorsOf(request);
        const expected = read(each.length === 0 ? undefined : plain.check(domain, each, 100));
        expect(read(decide(request, 100)), `seed ${seed}`).to.deep.equal(expected);
        if (expected?.outcomes.some(({ isOver }) => isOver)) over++;
      }
    }
    expect(prepared).to.be.above(700);
    expect(over).to.be.above(300);
  });

  it('charge the same counters of other stores', () => {
    for (let seed = 0; seed < 700; seed++) {
      const { domain, ruleSets, descriptors, requests } = caseOf(seed);
      const plain = recordingStore();
      const step = recordingStore();
      const descriptorsOf = descriptorsOfAll(descriptors);
      const limiter = embeddedLimiter({ ruleSets: { [domain]: ruleSets }, store: plain.store });
      const decide = embeddedLimiter({ ruleSets: { [domain]: ruleSets }, store: step.store }).prepare!(
        domain,
        descriptors,
      );
      if (!decide) continue;
      const earlier: [ReturnType<typeof read>, Decision][] = [];
      for (const request of requests) {
        const each = descriptorsOf(request);
        const expected = read(each.length === 0 ? undefined : limiter.check(domain, each, 100));
        const decision = decide(request, 100);
        expect(read(decision), `seed ${seed}`).to.deep.equal(expected);
        if (decision) earlier.push([expected, decision as Decision]);
      }
      expect(step.charges, `seed ${seed}`).to.deep.equal(plain.charges);
      // Decisions of such stores are awaited: a later request must not change them.
      for (const [expected, decision] of earlier) expect(read(decision)).to.deep.equal(expected);
    }
  });

  it('decide about users and anonymous clients', () => {
    const basic = {
      anonymousLimits: { requestsPerUnit: 1, unit: 'MINUTE' },
      authorizedLimits: { requestsPerUnit: 2, unit: 'MINUTE' },
    } as const;
    const { rule, descriptors } = compileBasic(basic, 'gw-system.shop');
    const ruleSets = { basic: [compileRules({ descriptors: [rule] }, { domain: 'basic' })] };
    const decide = embeddedLimiter({ ruleSets, store: createMemoryStore({ now }) }).prepare!('basic', descriptors)!;
    const allows = (userId: string | undefined, clientAddress: string | undefined): boolean | undefined =>
      read(decide(describedRequest({ userId, clientAddress }), 100))?.isAllowed;
    expect([1, 2, 3].map(() => allows('ann', '192.0.2.1'))).to.deep.equal([true, true, false]);
    expect([1, 2].map(() => allows(undefined, '192.0.2.1'))).to.deep.equal([true, false]);
    expect(allows(undefined, undefined)).to.equal(undefined);
  });

  it('are left to descriptors if their rule set depends on the request', () => {
    const ruleSets = RESOURCES.map((resource) => compileRules({}, { domain: 'vendor.io', resource }));
    const fromHeader = compileDescriptors([
      { actions: [{ requestHeaders: { headerName: 'x-a', descriptorKey: 'generic_key' } }] },
    ]);
    expect(prepareMatch(fromHeader, ruleSets, true)).to.equal(undefined);
    expect(prepareMatch(fromHeader, [], true)).to.be.a('function');
  });

  it('reject when a store throws', async () => {
    const store: Store = {
      count() {
        throw new Error('down');
      },
      close() {},
    };
    const rules = {
      descriptors: [{ key: 'remote_address', rateLimit: { requestsPerUnit: 1, unit: 'HOUR' as const } }],
    };
    const limiter = embeddedLimiter({ ruleSets: { custom: [compileRules(rules, { domain: 'custom' })] }, store });
    const decide = limiter.prepare!('custom', compileDescriptors([{ actions: [{ remoteAddress: {} }] }]))!;
    const failed = await Promise.resolve(decide(describedRequest({ clientAddress: '192.0.2.1' }), 100)).catch(
      (error: Error) => error,
    );
    expect(failed).to.have.property('message', 'down');
  });
});
