import { expect } from 'chai';
import { snapshotPartProblem, type SnapshotPartName } from '../../src/validate/snapshot-part.ts';

const REF = { name: 'a', namespace: 'gw-system' };
const route = (more: object = {}) => ({
  name: 'h-route-0',
  logName: '',
  matchers: [{ prefix: '/' }],
  action: { type: 'direct', status: 200, body: '' },
  options: {},
  source: { kind: 'VirtualService', ...REF },
  ...more,
});
const host = (more: object = {}) => ({
  name: 'h',
  virtualService: REF,
  listener: 'l',
  domains: ['a.example', 'b.example'],
  options: {},
  routes: [route(), route()],
  authConfigs: [],
  rateLimitConfigs: [],
  graphqlApis: [],
  ...more,
});
const second = (more: object) => host({ routes: [route(), route(more)] });
const header = (key: string) => ({ headerManipulation: { requestHeadersToAdd: [{ header: { key, value: '1' } }] } });
const endpoint = { address: '10.0.0.1', port: 80, weight: 1 };
const regexRewrite = (substitution: string) => ({ regexRewrite: { pattern: { regex: '/(a)' }, substitution } });

describe('a part of a snapshot', () => {
  const usable: readonly (readonly [SnapshotPartName, object])[] = [
    ['VirtualHost', host({ options: header('x-a') })],
    ['VirtualHost', second({ options: regexRewrite('\\1') })],
    ['EndpointSet', { endpoints: [endpoint, endpoint] }],
    ['Secret', { data: { a: '1', b: '2' } }],
    // It limits nothing, which is only a warning.
    ['RateLimitConfig', { ref: REF, spec: { raw: {} } }],
  ];
  for (const [part, value] of usable) {
    it(`can be used: ${part} ${JSON.stringify(value).slice(0, 60)}`, () => {
      expect(snapshotPartProblem(part, value)).to.equal(undefined);
    });
  }

  const damaged: readonly (readonly [field: string, SnapshotPartName, object])[] = [
    ['guard', 'VirtualHost', host({ guard: {} })],
    ['name', 'VirtualHost', host({ name: 1 })],
    ['', 'VirtualHost', Object.fromEntries(Object.entries(host()).filter(([name]) => name !== 'routes'))],
    ['domains[1]', 'VirtualHost', host({ domains: ['a.example', null] })],
    ['options.headerManipulation.requestHeadersToAdd[0].header.key', 'VirtualHost', host({ options: header('a b') })],
    ['routes[1].options.guard', 'VirtualHost', second({ options: { guard: true } })],
    ['routes[1].options.timeout', 'VirtualHost', second({ options: { timeout: 'soon' } })],
    [
      'routes[1].options.headerManipulation.requestHeadersToAdd[0].header.key',
      'VirtualHost',
      second({ options: header('a b') }),
    ],
    ['routes[1].options.regexRewrite.substitution', 'VirtualHost', second({ options: regexRewrite('\\2') })],
    ['routes[1].matchers[0].exact', 'VirtualHost', second({ matchers: [{ prefix: '/', exact: '/' }] })],
    ['routes[1].matchers[1]', 'VirtualHost', second({ matchers: [{ prefix: '/' }, { methods: ['GET'] }] })],
    ['routes[1].action', 'VirtualHost', second({ action: { type: 'redirect' } })],
    ['routes[1].action', 'VirtualHost', second({ action: { type: 'direct', body: '' } })],
    ['routes[1].action.type', 'VirtualHost', second({ action: { type: 'open' } })],
    ['routes[1].action.status', 'VirtualHost', second({ action: { type: 'direct', status: 2.5, body: '' } })],
    ['endpoints[1].port', 'EndpointSet', { endpoints: [endpoint, { ...endpoint, port: 70_000 }] }],
    ['data.b', 'Secret', { data: { a: '1', b: 2 } }],
    ['data.__proto__', 'Secret', { data: JSON.parse('{"__proto__":"x"}') }],
    ['spec', 'AuthConfig', { ref: REF, spec: {} }],
    ['spec', 'RateLimitConfig', { ref: REF, spec: {} }],
    [
      'spec.allowedQueryHashes[0]',
      'GraphQLApi',
      { ref: REF, spec: { allowedQueryHashes: ['x'], stitchedSchema: {} }, subschemas: [] },
    ],
    ['requireRbac', 'Settings', { requireRbac: 'no' }],
  ];
  for (const [field, part, value] of damaged) {
    it(`cannot be used with a problem at ${field || 'its root'} of a ${part}`, () => {
      expect(snapshotPartProblem(part, value)).to.have.property('field', field);
    });
  }
});
