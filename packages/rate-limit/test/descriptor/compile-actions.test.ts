import { toByteString } from '@edge-gateway/core';
import { expect } from 'chai';
import type { RateLimitAction, RateLimitActions } from '@edge-gateway/core/schema';
import { compileActions, type Entry } from '@edge-gateway/rate-limit';
import { describedRequest, type RequestParts } from './described-request.ts';

const describe1 = (rateLimits: RateLimitActions, request: RequestParts) =>
  compileActions([rateLimits])(describedRequest(request));
const entriesOf = (action: RateLimitAction, request: RequestParts): readonly Entry[] | undefined =>
  describe1({ actions: [action] }, request)[0]?.entries;

describe('compileActions', () => {
  it('compares headers as UTF-8, and describes them as text', () => {
    const headers = { 'x-city': toByteString('Zürich') };
    const named = { requestHeaders: { headerName: 'x-city', descriptorKey: 'city' } };
    expect(entriesOf(named, { headers })).to.deep.equal([{ key: 'city', value: 'Zürich' }]);
    const matches = (condition: object): boolean => {
      const headerValueMatch = { descriptorValue: 'it', headers: [{ name: 'x-city', ...condition }] };
      return entriesOf({ headerValueMatch }, { headers }) !== undefined;
    };
    expect(matches({ exactMatch: 'Zürich' })).to.equal(true);
    expect(matches({ exactMatch: 'Zürich', invertMatch: true })).to.equal(false);
    expect(matches({ regexMatch: 'Z.rich' })).to.equal(true);
    expect(matches({ regexMatch: 'Z.rich', invertMatch: true })).to.equal(false);
    expect(matches({ prefixMatch: 'Zü' })).to.equal(true);
    expect(matches({ suffixMatch: 'ürich' })).to.equal(true);
    expect(matches({ suffixMatch: 'Ürich' })).to.equal(false);
  });

  it('creates an entry per action, in order', () => {
    const actions: RateLimitAction[] = [
      { genericKey: { descriptorValue: 'orders' } },
      { remoteAddress: {} },
      { sourceCluster: {} },
      { destinationCluster: {} },
      { requestHeaders: { headerName: 'X-Plan', descriptorKey: 'plan' } },
      { requestHeaders: { headerName: ':method', descriptorKey: 'method' } },
    ];
    const request = {
      clientAddress: '192.0.2.1',
      sourceCluster: 'edge',
      destinationCluster: 'shop_gw-system',
      headers: { 'x-plan': 'gold', ':method': 'GET' },
    };
    expect(describe1({ actions }, request)).to.deep.equal([
      {
        isSet: false,
        limit: undefined,
        cost: undefined,
        entries: [
          { key: 'generic_key', value: 'orders' },
          { key: 'remote_address', value: '192.0.2.1' },
          { key: 'source_cluster', value: 'edge' },
          { key: 'destination_cluster', value: 'shop_gw-system' },
          { key: 'plan', value: 'gold' },
          { key: 'method', value: 'GET' },
        ],
      },
    ]);
  });

  it('drops a tuple without its header, and skips the entry in a set', () => {
    const list: RateLimitAction[] = [
      { genericKey: { descriptorValue: 'a' } },
      { requestHeaders: { headerName: 'x-plan', descriptorKey: 'plan' } },
    ];
    expect(describe1({ actions: list }, {})).to.deep.equal([]);
    const [set] = describe1({ setActions: list }, {});
    expect(set).to.include({ isSet: true });
    expect(set!.entries).to.deep.equal([{ key: 'generic_key', value: 'a' }]);
  });

  it('keeps a header that is empty', () => {
    const action = { requestHeaders: { headerName: 'x-plan', descriptorKey: 'plan' } };
    expect(entriesOf(action, { headers: { 'x-plan': '' } })).to.deep.equal([{ key: 'plan', value: '' }]);
  });

  it('uses the first of several headers', () => {
    const action = { requestHeaders: { headerName: 'x-plan', descriptorKey: 'plan' } };
    expect(entriesOf(action, { headers: { 'x-plan': ['a', 'b'] } })).to.deep.equal([{ key: 'plan', value: 'a' }]);
  });

  it('marks the values of secret headers', () => {
    const action = { requestHeaders: { headerName: 'Authorization', descriptorKey: 'who' } };
    expect(entriesOf(action, { headers: { authorization: 'Bearer x' } })).to.deep.equal([
      { key: 'who', value: 'Bearer x', isSecret: true },
    ]);
    // The key is all that a service sees.
    const renamed = { requestHeaders: { headerName: 'x-caller', descriptorKey: 'Authorization' } };
    expect(entriesOf(renamed, { headers: { 'x-caller': 'Bearer x' } })).to.deep.equal([
      { key: 'Authorization', value: 'Bearer x', isSecret: true },
    ]);
  });

  it('starts every descriptor with the resource', () => {
    const list: RateLimitAction[] = [{ genericKey: { descriptorValue: 'a' } }];
    const descriptors = compileActions([{ actions: list, setActions: list }], { resource: 'shop.orders' })(
      describedRequest({}),
    );
    const entries = [
      { key: 'generic_key', value: 'shop.orders' },
      { key: 'generic_key', value: 'a' },
    ];
    expect(descriptors.map((each) => each.isSet)).to.deep.equal([false, true]);
    expect(descriptors.map((each) => each.entries)).to.deep.equal([entries, entries]);
  });

  it('creates no descriptor without actions', () => {
    expect(describe1({}, {})).to.deep.equal([]);
    expect(describe1({ actions: [], setActions: [] }, {})).to.deep.equal([]);
  });

  for (const action of [{ remoteAddress: {} }, { sourceCluster: {} }, { destinationCluster: {} }]) {
    it(`drops the descriptor without a value for ${Object.keys(action)[0]}, in sets too`, () => {
      expect(describe1({ actions: [action], setActions: [action] }, {})).to.deep.equal([]);
    });
  }

  describe('headerValueMatch', () => {
    type Condition = NonNullable<NonNullable<RateLimitAction['headerValueMatch']>['headers']>[number];
    const matches = (value: string | readonly string[] | undefined, condition: Omit<Condition, 'name'>): boolean => {
      const headerValueMatch = { descriptorValue: 'v', headers: [{ name: 'X-A', ...condition }] };
      const entries = entriesOf({ headerValueMatch }, { headers: value === undefined ? {} : { 'x-a': value } });
      if (entries) expect(entries).to.deep.equal([{ key: 'header_match', value: 'v' }]);
      return entries !== undefined;
    };
    const cases: readonly [string | readonly string[] | undefined, Omit<Condition, 'name'>, boolean][] = [
      ['a', { exactMatch: 'a' }, true],
      ['ab', { exactMatch: 'a' }, false],
      ['A', { exactMatch: 'a' }, false],
      [undefined, { exactMatch: 'a' }, false],
      ['', { exactMatch: '' }, true],
      ['b', { exactMatch: 'a', invertMatch: true }, true],
      [undefined, { exactMatch: 'a', invertMatch: true }, false],
      ['aab', { regexMatch: 'a+b' }, true],
      ['aabc', { regexMatch: 'a+b' }, false],
      ['aabc', { regexMatch: 'a+b', invertMatch: true }, true],
      ['10', { rangeMatch: { start: 10, end: 20 } }, true],
      ['20', { rangeMatch: { start: 10, end: 20 } }, false],
      ['-5', { rangeMatch: { start: -10, end: 0 } }, true],
      ['10.5', { rangeMatch: { start: 10, end: 20 } }, false],
      ['0x10', { rangeMatch: { start: 10, end: 20 } }, false],
      ['', { rangeMatch: { start: -1, end: 20 } }, false],
      [' 15', { rangeMatch: { start: 10, end: 20 } }, false],
      ['1e1', { rangeMatch: { start: 10, end: 20 } }, false],
      ['x', { presentMatch: true }, true],
      [undefined, { presentMatch: true }, false],
      [undefined, { presentMatch: false }, true],
      ['x', { presentMatch: false }, false],
      [undefined, { presentMatch: true, invertMatch: true }, true],
      ['x', { presentMatch: false, invertMatch: true }, true],
      ['abc', { prefixMatch: 'ab' }, true],
      ['abc', { prefixMatch: 'bc' }, false],
      ['abc', { suffixMatch: 'bc' }, true],
      ['abc', { suffixMatch: 'bc', invertMatch: true }, false],
      ['x', {}, true],
      [undefined, {}, false],
      [['a', 'b'], { exactMatch: 'a,b' }, true],
      [['a', 'b'], { exactMatch: 'a' }, false],
    ];
    for (const [value, condition, isMatch] of cases) {
      it(`${isMatch ? 'matches' : 'does not match'} ${JSON.stringify(value)} with ${JSON.stringify(condition)}`, () => {
        expect(matches(value, condition)).to.equal(isMatch);
      });
    }

    it('needs every condition, and matches without any', () => {
      const headers = [
        { name: 'a', exactMatch: '1' },
        { name: 'b', exactMatch: '2' },
      ];
      const both = { headerValueMatch: { descriptorValue: 'v', headers } };
      expect(entriesOf(both, { headers: { a: '1', b: '2' } })).to.have.length(1);
      expect(entriesOf(both, { headers: { a: '1' } })).to.equal(undefined);
      expect(entriesOf({ headerValueMatch: { descriptorValue: 'v' } }, {})).to.have.length(1);
    });

    it('adds the entry if the headers do not match, with expectMatch false', () => {
      const headerValueMatch = { descriptorValue: 'v', expectMatch: false, headers: [{ name: 'a', exactMatch: '1' }] };
      expect(entriesOf({ headerValueMatch }, { headers: { a: '2' } })).to.have.length(1);
      expect(entriesOf({ headerValueMatch }, { headers: { a: '1' } })).to.equal(undefined);
    });

    it('drops a set if the headers do not match', () => {
      const list = [{ headerValueMatch: { descriptorValue: 'v', headers: [{ name: 'a', presentMatch: true }] } }];
      expect(describe1({ setActions: list }, {})).to.deep.equal([]);
    });
  });

  describe('metadata', () => {
    const metadataKey = { key: 'claims', path: [{ key: 'plan' }, { key: 'name' }] };
    const action = { metadata: { descriptorKey: 'plan', metadataKey } };
    const inClaims = (name: unknown) => ({ metadata: { claims: { plan: { name } } } });

    it('reads a string', () => {
      expect(entriesOf(action, inClaims('gold'))).to.deep.equal([{ key: 'plan', value: 'gold' }]);
    });

    it('reads metadata of the route with source ROUTE_ENTRY', () => {
      const ofRoute = { metadata: { ...action.metadata, source: 'ROUTE_ENTRY' as const } };
      expect(entriesOf(ofRoute, inClaims('gold'))).to.equal(undefined);
      const routeMetadata = { claims: { plan: { name: 'gold' } } };
      expect(entriesOf(ofRoute, { routeMetadata })).to.deep.equal([{ key: 'plan', value: 'gold' }]);
    });

    for (const value of [5, true, null, ['a'], { a: 'b' }, '', undefined]) {
      it(`drops the descriptor for ${JSON.stringify(value)}, or uses the default`, () => {
        expect(entriesOf(action, inClaims(value))).to.equal(undefined);
        const withDefault = { metadata: { ...action.metadata, defaultValue: 'free' } };
        expect(entriesOf(withDefault, inClaims(value))).to.deep.equal([{ key: 'plan', value: 'free' }]);
      });
    }

    for (const metadata of [
      {},
      { claims: 'text' },
      { claims: null },
      { claims: { plan: null } },
      { claims: { plan: 'x' } },
    ]) {
      it(`drops the descriptor with the metadata ${JSON.stringify(metadata)}`, () => {
        expect(entriesOf(action, { metadata })).to.equal(undefined);
      });
    }

    it('reads own properties only', () => {
      const metadataKey = { key: 'claims', path: [{ key: 'constructor' }, { key: 'name' }] };
      expect(entriesOf({ metadata: { descriptorKey: 'plan', metadataKey } }, { metadata: { claims: {} } })).to.equal(
        undefined,
      );
    });

    it('marks values whose names are those of secrets', () => {
      const steps = (...keys: string[]) => keys.map((key) => ({ key }));
      const of = (descriptorKey: string, ...path: string[]) =>
        entriesOf(
          { metadata: { descriptorKey, metadataKey: { key: 'claims', path: steps(...path) } } },
          { metadata: { claims: { id: 'x', api_key: 'x', auth: { password: 'x' } } } },
        );
      expect(of('who', 'id')).to.deep.equal([{ key: 'who', value: 'x' }]);
      expect(of('who', 'api_key')).to.deep.equal([{ key: 'who', value: 'x', isSecret: true }]);
      expect(of('who', 'auth', 'password')).to.deep.equal([{ key: 'who', value: 'x', isSecret: true }]);
      expect(of('api-key', 'id')).to.deep.equal([{ key: 'api-key', value: 'x', isSecret: true }]);
    });

    it('reports a value that is not a string once, without the value', () => {
      const warnings: string[] = [];
      const descriptorsOf = compileActions([{ actions: [action] }], { warn: (message) => void warnings.push(message) });
      descriptorsOf(describedRequest(inClaims(5)));
      descriptorsOf(describedRequest(inClaims(7)));
      descriptorsOf(describedRequest(inClaims(['secret'])));
      expect(warnings).to.deep.equal([
        'metadata of claims for plan must be a string, but is of type number',
        'metadata of claims for plan must be a string, but is a list',
      ]);
    });
  });

  describe('limit.dynamicMetadata', () => {
    const rateLimits = {
      actions: [{ genericKey: { descriptorValue: 'a' } }],
      limit: { dynamicMetadata: { metadataKey: { key: 'quota', path: [{ key: 'limit' }] } } },
    };
    const limitOf = (limit: unknown) => describe1(rateLimits, { metadata: { quota: { limit } } })[0]!.limit;

    it('replaces the limit', () => {
      expect(limitOf({ requests_per_unit: 7, unit: 'HOUR' })).to.deep.equal({
        requests: 7,
        unit: 'HOUR',
        unitMs: 3_600_000,
        algorithm: 'FIXED_WINDOW',
        burst: 7,
      });
    });

    const invalid = [
      { requests_per_unit: -1, unit: 'HOUR' },
      { requests_per_unit: 1.5, unit: 'HOUR' },
      { requests_per_unit: 2 ** 32, unit: 'HOUR' },
      { requests_per_unit: '7', unit: 'HOUR' },
      { requests_per_unit: Number.NaN, unit: 'HOUR' },
      { requests_per_unit: 7, unit: 'FORTNIGHT' },
      { requests_per_unit: 7, unit: 'UNKNOWN' },
      { requests_per_unit: 7, unit: 'constructor' },
      { requests_per_unit: 7 },
      'text',
      5,
      [],
    ];
    for (const limit of invalid) {
      it(`reports ${JSON.stringify(limit)} and keeps the limit of the rules`, () => {
        const warnings: string[] = [];
        const descriptorsOf = compileActions([rateLimits], { warn: (message) => void warnings.push(message) });
        const [descriptor] = descriptorsOf(describedRequest({ metadata: { quota: { limit } } }));
        expect(descriptor!.limit).to.equal(undefined);
        expect(warnings).to.deep.equal([
          'invalid limit in metadata quota: must have an integer requests_per_unit and a unit',
        ]);
      });
    }

    it('keeps the limit of the rules without metadata', () => {
      expect(limitOf(undefined)).to.equal(undefined);
    });
  });

  describe('cost', () => {
    const actions = [{ genericKey: { descriptorValue: 'a' } }];
    const costs: readonly [string | undefined, number][] = [
      ['5', 5],
      ['0', 0],
      ['2.1', 3],
      ['1000', 1000],
      ['1001', 1000],
      ['999999999999999', 1000],
      ['9'.repeat(400), 1000],
      ['0.'.concat('0'.repeat(400)), 0],
      ['-1', 1],
      ['1e3', 1],
      ['Infinity', 1],
      ['NaN', 1],
      ['0x10', 1],
      ['', 1],
      [' 5', 1],
      [undefined, 1],
    ];
    for (const [value, cost] of costs) {
      it(`of the header ${JSON.stringify(value)} is ${cost}`, () => {
        const fields = { actions, cost: { header: { headerName: 'X-Cost' } } };
        expect(describe1(fields, { headers: value === undefined ? {} : { 'x-cost': value } })[0]!.cost).to.equal(cost);
      });
    }

    it('is at most the maximum of the header', () => {
      const fields = { actions, cost: { header: { headerName: 'x-cost', max: 10 } } };
      expect(describe1(fields, { headers: { 'x-cost': '11' } })[0]!.cost).to.equal(10);
    });

    for (const [graphqlComplexity, cost] of [
      [7.2, 8],
      [0, 0],
      [undefined, 1],
      [-1, 1],
      [Number.NaN, 1],
      [Infinity, Number.MAX_SAFE_INTEGER],
    ] as const) {
      it(`of the complexity ${graphqlComplexity} is ${cost}`, () => {
        expect(describe1({ actions, cost: { graphqlComplexity: {} } }, { graphqlComplexity })[0]!.cost).to.equal(cost);
      });
    }
  });

  describe('rejects', () => {
    const invalid: readonly [string, RateLimitActions, string][] = [
      ['an empty action', { actions: [{}] }, 'action without a type'],
      ['cel', { actions: [{ cel: { expression: 'true', key: 'k' } }] }, 'action cel is not supported'],
      ['type TOKEN', { type: 'TOKEN' }, 'type TOKEN is not supported: use cost'],
      ['an empty cost', { cost: {} }, 'invalid cost: must set header or graphqlComplexity'],
      ['genericKey without a value', { actions: [{ genericKey: {} }] }, 'missing genericKey.descriptorValue'],
      [
        'requestHeaders without a header',
        { setActions: [{ requestHeaders: { descriptorKey: 'k' } }] },
        'missing requestHeaders.headerName',
      ],
      [
        'requestHeaders without a key',
        { actions: [{ requestHeaders: { headerName: 'a' } }] },
        'missing requestHeaders.descriptorKey',
      ],
      [
        'headerValueMatch without a value',
        { actions: [{ headerValueMatch: {} }] },
        'missing headerValueMatch.descriptorValue',
      ],
      ['metadata without a key', { actions: [{ metadata: {} }] }, 'missing metadata.descriptorKey'],
      [
        'metadata without a namespace',
        { actions: [{ metadata: { descriptorKey: 'k' } }] },
        'missing metadata.metadataKey.key',
      ],
    ];
    for (const [name, fields, message] of invalid) {
      it(name, () => {
        expect(() => compileActions([fields]))
          .to.throw(message)
          .with.property('code', 'ERR_RATE_LIMIT_ACTIONS');
      });
    }

    it('an invalid expression', () => {
      const headers = [{ name: 'a', regexMatch: '(' }];
      const headerValueMatch = { descriptorValue: 'v', headers };
      expect(() => compileActions([{ actions: [{ headerValueMatch }] }]))
        .to.throw()
        .with.property('code', 'ERR_CORE_REGEX');
    });
  });
});
