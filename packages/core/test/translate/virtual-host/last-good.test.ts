import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Route, RouteAction } from '../../../src/contract/snapshot.ts';
import { createStore } from '../../../src/control/store.ts';
import { translate } from '../../../src/translate/translate.ts';
import type { Translation } from '../../../src/translate/translate.ts';
import { load, splitDocuments } from '../load.ts';

const upstream = (name: string): string => `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: ${name} }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 80 }] } }`;

const single = (name: string): string => `routeAction: { single: { upstream: { name: ${name} } } }`;
const multi = (...names: string[]): string =>
  `routeAction: { multi: { destinations: [${names
    .map((name) => `{ weight: 1, destination: { upstream: { name: ${name} } } }`)
    .join(', ')}] } }`;
const toGroup = (name: string): string => `routeAction: { upstreamGroup: { name: ${name}, namespace: gw-system } }`;
const group = (name: string, ...members: string[]): string => `apiVersion: gw.vendor.io/v1
kind: UpstreamGroup
metadata: { name: ${name} }
spec:
  destinations: [${members.map((member) => `{ weight: 1, destination: { upstream: { name: ${member} } } }`).join(', ')}]`;

const route = (action: string, prefix = '/', name = ''): string =>
  `{ matchers: [{ prefix: ${prefix} }], ${name && `name: ${name}, `}${action} }`;
const service = (...routes: string[]): string => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec: { virtualHost: { domains: ['*'], routes: [${routes.join(', ')}] } }`;
const table = (...routes: string[]): string => `apiVersion: gateway.vendor.io/v1
kind: RouteTable
metadata: { name: team }
spec: { routes: [${routes.join(', ')}] }`;
const api = (name: string, upstreamName: string): string => `apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: ${name} }
spec:
  executableSchema:
    schemaDefinition: 'type Query { a: String }'
    executor: { remote: { upstreamRef: { name: ${upstreamName} } } }`;

/** Translates each step beside what the one before it served. */
function after(...steps: (readonly string[])[]): Translation {
  const store = createStore();
  let translation: Translation | undefined;
  for (const documents of steps) translation = translate(load(documents, store), translation?.memo);
  return translation!;
}

const routesOf = ({ snapshots }: Translation): readonly Route[] =>
  snapshots.get('gateway-proxy')!.listeners[0]!.virtualHosts[0]!.routes;
const summary = (action: RouteAction): string => {
  switch (action.type) {
    case 'forward':
      return action.destinations
        .map(({ upstream: name, broken }) => name.replace('_gw-system', '') + (broken ? `:${broken.status}` : ''))
        .join(' ');
    case 'replacement':
      return String(action.status);
    case 'graphql':
      return `graphql ${action.api.name}`;
    default:
      return action.type;
  }
};
const served = (translation: Translation): string[] => routesOf(translation).map(({ action }) => summary(action));
const reason = ({ statuses }: Translation, key = 'VirtualService/gw-system/shop'): string | undefined =>
  statuses.get(key as never)!.statuses['gw-system']!.reason;

describe('a reference that a change breaks', () => {
  const both = [upstream('v1'), upstream('v2')];

  it('keeps the last good destination, with a warning that suggests the nearest name', () => {
    const result = after([...both, service(route(single('v2')))], [...both, service(route(single('v22')))]);
    expect(served(result)).to.deep.equal(['v2']);
    expect(result.statuses.get('VirtualService/gw-system/shop')!.statuses['gw-system']!.state).to.equal('Warning');
    expect(reason(result)).to.contain(
      '*v1.Upstream { gw-system.v22 } not found (did you mean v2?); the route keeps its last good destination',
    );
  });

  it('finds a name of two letters, and the same name in another namespace', () => {
    const before = [...both, service(route(single('v1')))];
    expect(reason(after(before, [...both, service(route(single('v3')))]))).to.contain('(did you mean v1?)');
    const elsewhere = upstream('orders').replace('name: orders', 'name: orders, namespace: shop');
    const result = after(before, [...both, elsewhere, service(route(single('orders')))]);
    expect(reason(result)).to.contain('*v1.Upstream { gw-system.orders } not found (did you mean shop.orders?)');
  });

  it('returns the replacement if the route never had a good destination', () => {
    expect(served(after([...both, service(route(single('v22')))]))).to.deep.equal(['404']);
    const added = [...both, service(route(single('v2'), '/a'), route(single('v22'), '/b'))];
    expect(served(after([...both, service(route(single('v2'), '/a'))], added))).to.deep.equal(['v2', '404']);
  });

  it('keeps the destination through later changes of other resources and of other routes', () => {
    const broken = [...both, service(route(single('v22'), '/a'))];
    const first = [...both, service(route(single('v2'), '/a'))];
    expect(served(after(first, broken, [...broken, upstream('other')]))).to.deep.equal(['v2']);
    const more = [...both, service(route(single('v1'), '/first'), route(single('v22'), '/a'))];
    expect(served(after(first, broken, more))).to.deep.equal(['v1', 'v2']);
  });

  const GUARD = 'options: { rbac: { policies: {} } }';
  const OPENED: Record<string, readonly [before: string, after: string]> = {
    'loses the policy of the route': [service(route(`${GUARD}, ${single('v2')}`)), service(route(single('v22')))],
    'is exempted from it': [
      service(route(`${GUARD}, ${single('v2')}`)),
      service(route(`options: { rbac: { disable: true } }, ${single('v22')}`)),
    ],
    'loses the policy of the virtual host': [
      service(route(single('v2'))).replace('routes:', `${GUARD}, routes:`),
      service(route(single('v22'))),
    ],
  };
  for (const [what, [guarded, opened]] of Object.entries(OPENED)) {
    it(`keeps no destination for a route that ${what} in the same edit`, () => {
      const steps = [
        [...both, guarded],
        [...both, opened],
        [...both, opened, upstream('other')],
      ];
      for (const result of [after(...steps.slice(0, 2)), after(...steps)]) {
        expect(served(result)).to.deep.equal(['503']);
        expect(reason(result)).to.contain('the route responds with 503, because its access options changed as well');
      }
      const typo = guarded.replace('name: v2 ', 'name: v22 ');
      expect(served(after(...steps, [...both, typo]))).to.deep.equal(['v2']);
      expect(served(after(...steps, [...both, opened, upstream('v22')]))).to.deep.equal(['v22']);
    });
  }

  it('identifies a route by its name if its matchers change in the same edit', () => {
    const first = [...both, service(route(single('v2'), '/a', 'shop'))];
    expect(served(after(first, [...both, service(route(single('v22'), '/b', 'shop'))]))).to.deep.equal(['v2']);
    const unnamed = [...both, service(route(single('v2'), '/a'))];
    expect(served(after(unnamed, [...both, service(route(single('v22'), '/b'))]))).to.deep.equal(['404']);
  });

  it('identifies a route by its matchers if its name changes in the same edit', () => {
    const first = [...both, service(route(single('v1'), '/a', 'shop'), route(single('v2'), '/b', 'shop'))];
    const renamed = service(route(single('v22'), '/b', 'other'), route(single('v11'), '/a'));
    expect(served(after(first, [...both, renamed]))).to.deep.equal(['v2', 'v1']);
    const swapped = service(route(single('v11'), '/b', 'shop'), route(single('v22'), '/a', 'shop'));
    expect(served(after(first, [...both, swapped]))).to.deep.equal(['v2', 'v1']);
  });

  it('serves the new destination once its upstream is added', () => {
    const first = [...both, service(route(single('v2')))];
    const broken = [...both, service(route(single('v22')))];
    const result = after(first, broken, [...broken, upstream('v22')]);
    expect(served(result)).to.deep.equal(['v22']);
    expect(reason(result)).to.equal(undefined);
  });

  it('suggests a name that is added later', () => {
    const broken = [upstream('other'), service(route(single('orders-v2')))];
    expect(reason(after(broken))).to.contain('orders-v2 } not found. Route');
    expect(reason(after(broken, [...broken, upstream('order-v2')]))).to.contain('not found (did you mean order-v2?)');
  });

  it('keeps all weighted destinations when one of them is misspelt', () => {
    const first = [...both, service(route(multi('v1', 'v2')))];
    expect(served(after(first, [...both, service(route(multi('v1', 'v22')))]))).to.deep.equal(['v1 v2']);
    expect(served(after([...both, service(route(multi('v1', 'v22')))]))).to.deep.equal(['v1 v22:404']);
  });

  it('keeps the destinations of a group that is misspelt, or has a misspelt member', () => {
    const first = [...both, group('g', 'v1', 'v2'), service(route(toGroup('g')))];
    const misspelt = [...both, group('g', 'v1', 'v2'), service(route(toGroup('gg')))];
    expect(served(after(first, misspelt))).to.deep.equal(['v1 v2']);
    const member = [...both, group('g', 'v1', 'v22'), service(route(toGroup('g')))];
    expect(served(after(first, member))).to.deep.equal(['v1 v2']);
    expect(reason(after(first, member), 'UpstreamGroup/gw-system/g')).to.contain('v22 } not found (did you mean v2?)');
  });

  it('keeps the destination of a route in a route table', () => {
    const delegating = service('{ matchers: [{ prefix: / }], delegateAction: { ref: { name: team } } }');
    const first = [...both, delegating, table(route(single('v2'), '/a'), route(single('v1'), '/b'))];
    const broken = [...both, delegating, table(route(single('v22'), '/a'), route(single('v1'), '/b'))];
    const result = after(first, broken);
    expect(served(result)).to.deep.equal(['v2', 'v1']);
    expect(reason(result, 'RouteTable/gw-system/team')).to.contain('(did you mean v2?); the route keeps');
  });

  it('keeps a GraphQLApi that is misspelt, or whose upstream is', () => {
    const first = [...both, api('books', 'v1'), service(route('graphqlApiRef: { name: books }'))];
    const misspelt = [...both, api('books', 'v1'), service(route('graphqlApiRef: { name: boks }'))];
    expect(served(after(first, misspelt))).to.deep.equal(['graphql books']);
    const result = after(first, [...both, api('books', 'v3'), service(route('graphqlApiRef: { name: books }'))]);
    const [host] = result.snapshots.get('gateway-proxy')!.listeners[0]!.virtualHosts;
    expect(host!.graphqlApis[0]!.spec.executableSchema!.executor!.remote!.upstreamRef).to.deep.include({ name: 'v1' });
  });

  it('keeps a redirect or direct response that was there before', () => {
    const direct = [...both, service(route('directResponseAction: { status: 200 }'))];
    expect(served(after(direct, [...both, service(route(single('v22')))]))).to.deep.equal(['direct']);
  });

  it('keeps the served version, not one that was rejected in between', () => {
    const first = [...both, service(route(single('v1')))];
    const refused = [
      ...both,
      service(route(`${single('v2')}, options: { extauth: { configRef: { name: none, namespace: gw-system } } }`)),
    ];
    expect(served(after(first, refused, [...both, service(route(single('v22')))]))).to.deep.equal(['v1']);
  });

  it('keeps the destination when the virtual service moves to another listener in the same edit', () => {
    const gateway = (label: string): string => `apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: ${label} }
spec: { bindPort: ${label === 'a' ? 8080 : 8081}, httpGateway: { virtualServiceSelector: { on: ${label} } } }`;
    const labelled = (label: string, to: string): string =>
      service(route(single(to))).replace('name: shop', `name: shop, labels: { on: ${label} }`);
    const gateways = [gateway('a'), gateway('b')];
    const result = after([...both, ...gateways, labelled('a', 'v2')], [...both, ...gateways, labelled('b', 'v22')]);
    expect(served(result)).to.deep.equal(['v2']);
  });

  it('has no last good destination after a restart', () => {
    const store = createStore();
    const first = translate(load([...both, service(route(single('v2')))], store));
    const broken = load([...both, service(route(single('v22')))], store);
    expect(served(translate(broken, first.memo))).to.deep.equal(['v2']);
    expect(served(translate(broken))).to.deep.equal(['404']);
  });
});

describe('an upstream that is deleted while its routes stay', () => {
  const both = [upstream('v1'), upstream('v2')];
  const first = [...both, service(route(single('v2')))];

  it('makes them return 503, also after they change', () => {
    const gone = [upstream('v1'), service(route(single('v2')))];
    expect(served(after(first, gone))).to.deep.equal(['503']);
    const edited = [upstream('v1'), service(route(`${single('v2')}, options: { timeout: 1s }`))];
    expect(served(after(first, gone, edited))).to.deep.equal(['503']);
    expect(served(after(first, gone, first))).to.deep.equal(['v2']);
  });

  it('costs weighted destinations their share', () => {
    const weighted = [...both, service(route(multi('v1', 'v2')))];
    const gone = [upstream('v1'), service(route(multi('v1', 'v2')))];
    expect(served(after(weighted, gone))).to.deep.equal(['v1 v2:503']);
    expect(served(after(weighted, [service(route(multi('v1', 'v2')))]))).to.deep.equal(['503']);
  });

  it('makes a route with it as last good destination return 503', () => {
    const misspelt = [...both, service(route(single('v22')))];
    expect(served(after(first, misspelt, [upstream('v1'), service(route(single('v22')))]))).to.deep.equal(['503']);
  });

  it('makes the routes of a deleted group return 503', () => {
    const grouped = [...both, group('g', 'v1', 'v2'), service(route(toGroup('g')))];
    expect(served(after(grouped, [...both, service(route(toGroup('g')))]))).to.deep.equal(['503']);
  });

  it('makes the routes of a deleted GraphQLApi return 503', () => {
    const graph = [...both, api('books', 'v1'), service(route('graphqlApiRef: { name: books }'))];
    expect(served(after(graph, [...both, service(route('graphqlApiRef: { name: books }'))]))).to.deep.equal(['503']);
  });
});

describe('shared options that a change makes unavailable', () => {
  const option = (kind: string, name: string, options: string): string => `apiVersion: gateway.vendor.io/v1
kind: ${kind}
metadata: { name: ${name} }
spec: { options: { ${options} } }`;
  const refs = (...names: string[]): string =>
    `optionsConfigRefs: { delegateOptions: [${names.map((name) => `{ name: ${name}, namespace: gw-system }`).join()}] }`;
  const hosted = (shared: string, own = '{}'): string =>
    service(route(single('v1'))).replace("domains: ['*']", `domains: ['*'], ${shared}, options: ${own}`);
  const guard = option('VirtualHostOption', 'guard', 'extauth: { configRef: { name: users } }');
  const users = `apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: users }
spec: { configs: [{ basicAuth: { apr: { users: { a: { salt: x, hashedPassword: y } } } } }] }`;
  const base = [upstream('v1'), users];
  const hostOf = ({ snapshots }: Translation) => snapshots.get('gateway-proxy')!.listeners[0]!.virtualHosts[0]!;
  const auth = { configRef: { name: 'users', namespace: 'gw-system' } };

  it('stay in use for a virtual host with a misspelt reference, with a warning', () => {
    const result = after([...base, guard, hosted(refs('guard'))], [...base, guard, hosted(refs('gaurd'))]);
    expect(hostOf(result).options.extauth).to.deep.equal(auth);
    expect(hostOf(result).authConfigs).to.have.length(1);
    expect(result.statuses.get('VirtualService/gw-system/shop')!.statuses['gw-system']!.state).to.equal('Warning');
    expect(reason(result)).to.contain(
      'VirtualHostOption gw-system.gaurd not found (did you mean guard?); its last good options stay in use',
    );
  });

  it('stay in use after their resource is deleted, until the reference is removed', () => {
    const good = [...base, guard, hosted(refs('guard'))];
    const deleted = [...base, hosted(refs('guard'))];
    expect(hostOf(after(good, deleted)).options.extauth).to.deep.equal(auth);
    const edited = [...base, upstream('v2'), hosted(refs('guard'), '{ retries: { numRetries: 2 } }')];
    expect(hostOf(after(good, deleted, edited)).options).to.deep.equal({ extauth: auth, retries: { numRetries: 2 } });
    expect(hostOf(after(good, deleted, [...base, hosted(refs())])).options).to.deep.equal({});
  });

  it('are missing after a restart, and for a new reference', () => {
    const broken = [...base, guard, hosted(refs('gaurd'))];
    expect(hostOf(after(broken)).options).to.deep.equal({});
    expect(reason(after(broken))).to.match(/gaurd not found \(did you mean guard\?\)$/);
    const result = after([...base, guard, hosted(refs())], broken);
    expect(hostOf(result).options).to.deep.equal({});
  });

  it('are replaced when the reference resolves again', () => {
    const other = option('VirtualHostOption', 'gaurd', 'retries: { numRetries: 1 }');
    const broken = [...base, guard, hosted(refs('gaurd'))];
    const result = after([...base, guard, hosted(refs('guard'))], broken, [...broken, other]);
    expect(hostOf(result).options).to.deep.equal({ retries: { numRetries: 1 } });
    expect(reason(result)).to.equal(undefined);
  });

  it('keep their order between resolved references, which follow their resources', () => {
    const a = (count: number): string => option('VirtualHostOption', 'a', `retries: { numRetries: ${count} }`);
    const b = option('VirtualHostOption', 'b', 'retries: { numRetries: 8 }, extauth: { configRef: { name: users } }');
    const good = [...base, a(1), b, hosted(refs('a', 'b'))];
    expect(hostOf(after(good, [...base, a(2), b, hosted(refs('a', 'bb'))])).options).to.deep.equal({
      retries: { numRetries: 2 },
      extauth: auth,
    });
    expect(hostOf(after(good, [...base, a(2), b, hosted(refs('bb', 'a'))])).options).to.deep.equal({
      retries: { numRetries: 8 },
      extauth: auth,
    });
    expect(hostOf(after(good, [...base, a(2), b, hosted(refs('a'))])).options).to.deep.equal({
      retries: { numRetries: 2 },
    });
  });

  it('do not restore options that other references replaced', () => {
    const a = option('VirtualHostOption', 'a', 'retries: { numRetries: 1 }');
    const good = [...base, guard, a, hosted(refs('guard', 'a'))];
    const broken = [...base, guard, a, hosted(refs('gaurd', 'a'))];
    const removed = [...base, guard, a, hosted(refs('gaurd'))];
    expect(hostOf(after(good, broken, removed)).options).to.deep.equal({ extauth: auth });
  });

  it('do not grow if a reference is repeated', () => {
    const good = [...base, guard, hosted(refs('guard', 'guard'))];
    const steps = Array.from({ length: 40 }, (_, i) => [
      ...base,
      hosted(refs('guard', 'guard'), `{ retries: { numRetries: ${i} } }`),
    ]);
    expect(hostOf(after(good, ...steps)).options.extauth).to.deep.equal(auth);
  }).timeout(5000);

  it('do not survive a version that was rejected in between', () => {
    const broken = '{ extauth: { configRef: { name: none } } }';
    const good = [...base, guard, hosted(refs('guard'))];
    const rejected = [...base, guard, hosted(refs(), broken)];
    const result = after(good, rejected, [...base, guard, hosted(refs('gaurd'))]);
    expect(hostOf(result).options.extauth).to.deep.equal(auth);
  });

  const shared = option('RouteOption', 'guard', 'extauth: { configRef: { name: users } }');
  const optionsOf = (translation: Translation) => routesOf(translation)[0]!.options;

  it('stay in use for a route, identified by its matchers or its name', () => {
    const good = [...base, shared, service(route(`${single('v1')}, ${refs('guard')}`, '/a', 'named'))];
    const misspelt = [...base, shared, service(route(`${single('v1')}, ${refs('gaurd')}`, '/a'))];
    expect(optionsOf(after(good, misspelt)).extauth).to.deep.equal(auth);
    expect(reason(after(good, misspelt))).to.contain('(did you mean guard?); its last good options stay in use');
    const moved = [...base, shared, service(route(`${single('v1')}, ${refs('gaurd')}`, '/b', 'named'))];
    expect(optionsOf(after(good, moved)).extauth).to.deep.equal(auth);
  });

  it('stay in use for a delegating route, and reach its route table', () => {
    const delegating = (name: string): string =>
      service(route(`delegateAction: { ref: { name: team } }, ${refs(name)}`));
    const routes = table(route(single('v1'), '/a'));
    const result = after(
      [...base, shared, routes, delegating('guard')],
      [...base, shared, routes, delegating('gaurd')],
    );
    expect(optionsOf(result).extauth).to.deep.equal(auth);
  });

  it('stay in use for a route of a route table', () => {
    const delegating = service(route('delegateAction: { ref: { name: team } }'));
    const routes = (name: string): string => table(route(`${single('v1')}, ${refs(name)}`, '/a'));
    const good = [...base, shared, delegating, routes('guard')];
    const result = after(good, [...base, shared, delegating, routes('gaurd')]);
    expect(optionsOf(result).extauth).to.deep.equal(auth);
    expect(reason(result, 'RouteTable/gw-system/team')).to.contain('last good options stay in use');
    expect(optionsOf(after(good, [...base, delegating, routes('guard')])).extauth).to.deep.equal(auth);
  });
});

describe('a certificate that a change makes unavailable', () => {
  const file = join(import.meta.dirname, '../../golden/tls-last-good-keeps-its-certificate.in.yaml');
  const [cert, other] = splitDocuments(readFileSync(file, 'utf8')).filter((text) => text.includes('kubernetes.io/tls'));
  const secure = (secret: string, more = ''): string =>
    service(route(single('v1'))).replace('spec: {', `spec: { sslConfig: { secretRef: { name: ${secret} }${more} },`);
  const base = [upstream('v1'), cert!, other!];
  const listenerOf = ({ snapshots }: Translation) => snapshots.get('gateway-proxy')!.listeners[0];
  const secretsOf = (translation: Translation) =>
    listenerOf(translation)?.sslConfigurations.map(({ sslConfig }) => sslConfig.secretRef?.name);
  const proxyStatus = ({ statuses }: Translation) =>
    statuses.get('Proxy/gw-system/gateway-proxy')!.statuses['gw-system']!;

  it('stays in use if the reference is misspelt, with a warning', () => {
    const result = after([...base, secure('cert')], [...base, secure('certt')]);
    expect(secretsOf(result)).to.deep.equal(['cert']);
    expect(listenerOf(result)!.virtualHosts).to.have.length(1);
    expect(proxyStatus(result).state).to.equal('Warning');
    expect(proxyStatus(result).reason).to.contain(
      'no secret gw-system.certt (did you mean cert?); the last good sslConfig stays in use',
    );
    const [problem] = result.problems;
    expect(problem!.key).to.equal('VirtualService/gw-system/shop');
    expect(problem!.problem.path).to.deep.equal(['spec', 'sslConfig', 'secretRef']);
  });

  it('stays in use through later changes and beside other virtual services', () => {
    const second = (secret: string): string => secure(secret).replace('name: shop', 'name: second').replace("'*'", 'b');
    const good = [...base, secure('cert'), second('cert')];
    const broken = [...base, secure('certt'), second('cert')];
    expect(secretsOf(after(good, broken, [...broken, upstream('v2')]))).to.deep.equal(['cert']);
    const moved = after(good, broken, [
      ...base,
      secure('certt'),
      second('other').replace('sslConfig: {', 'sslConfig: { sniDomains: [b],'),
    ]);
    expect(secretsOf(moved)).to.have.members(['cert', 'other']);
    expect(listenerOf(moved)!.virtualHosts).to.have.length(2);
  });

  it('is replaced when the secret appears, or the reference is corrected', () => {
    const good = [...base, secure('cert')];
    const broken = [...base, secure('certt')];
    const later = cert!.replace('name: cert', 'name: certt');
    const found = after(good, broken, [...broken, later]);
    expect(secretsOf(found)).to.deep.equal(['certt']);
    expect(reason(found)).to.equal(undefined);
    expect(secretsOf(after(good, broken, [...base, secure('other')]))).to.deep.equal(['other']);
  });

  it('stays the configuration of a running listener when its secret is deleted', () => {
    const deleted = [upstream('v1'), other!, secure('cert')];
    expect(secretsOf(after([...base, secure('cert')], deleted))).to.deep.equal(['cert']);
    const misspelt = [upstream('v1'), other!, secure('certt')];
    expect(secretsOf(after([...base, secure('cert')], [...base, secure('certt')], misspelt))).to.deep.equal(['cert']);
  });

  it('is not kept if the same change modifies the verification of the peer', () => {
    const stricter = secure('certt', ', verifySubjectAltName: [a.example.com]');
    expect(listenerOf(after([...base, secure('cert')], [...base, stricter]))).to.equal(undefined);
    const oneWay = [...base, secure('cert', ', oneWayTls: true')];
    expect(listenerOf(after(oneWay, [...base, secure('certt')]))).to.equal(undefined);
    const strictUpstream = verified('certt').replace('} },', '}, verifySubjectAltName: [a.example.com] },');
    const good = [cert!, other!, verified('cert'), routed];
    expect(served(after(good, [cert!, other!, strictUpstream, routed]))).to.deep.equal(['503']);
  });

  it('is omitted if there never was a good one', () => {
    expect(listenerOf(after([...base, secure('certt')]))).to.equal(undefined);
  });

  const verified = (secret: string): string =>
    upstream('v1').replace('spec: {', `spec: { sslConfig: { secretRef: { name: ${secret} } },`);
  const routed = service(route(single('v1')));
  const upstreamOf = ({ snapshots }: Translation) => snapshots.get('gateway-proxy')!.upstreams[0];

  it('stays in use for an upstream with a misspelt reference, with a warning', () => {
    const good = [cert!, other!, verified('cert'), routed];
    const broken = [cert!, other!, verified('certt'), routed];
    const result = after(good, broken);
    expect(served(result)).to.deep.equal(['v1']);
    expect(upstreamOf(result)!.spec.sslConfig!.secretRef).to.deep.equal({ name: 'cert', namespace: 'gw-system' });
    expect(reason(result, 'Upstream/gw-system/v1')).to.contain(
      '(did you mean cert?); the last good sslConfig stays in use',
    );
    const again = after(good, broken, [...broken, upstream('v2')]);
    expect(upstreamOf(again)!.spec.sslConfig!.secretRef!.name).to.equal('cert');
    const found = after(good, broken, [...broken, cert!.replace('name: cert', 'name: certt')]);
    expect(upstreamOf(found)!.spec.sslConfig!.secretRef!.name).to.equal('certt');
    expect(reason(found, 'Upstream/gw-system/v1')).to.equal(undefined);
  });

  it('removes the upstream if its secret is deleted, or there never was a good one', () => {
    const good = [cert!, other!, verified('cert'), routed];
    expect(served(after(good, [other!, verified('cert'), routed]))).to.deep.equal(['503']);
    expect(served(after(good, [cert!, verified('certt'), routed], [verified('certt'), routed]))).to.deep.equal(['503']);
    expect(served(after([cert!, verified('certt'), routed]))).to.deep.equal(['404']);
  });
});

describe('a route table that a change misspells', () => {
  const world = [upstream('v1'), upstream('v2'), table(route(single('v1'), '/a'), route(single('v2'), '/b'))];
  const to = (name: string, more = ''): string => service(route(`delegateAction: { ref: { name: ${name} } }${more}`));

  it('stays in use, with a warning that suggests the nearest name', () => {
    const result = after([...world, to('team')], [...world, to('teem')], [...world, to('taem')]);
    expect(served(result)).to.deep.equal(['v1', 'v2']);
    expect(reason(result))
      .to.contain('route table gw-system.taem not found (did you mean team?)')
      .and.contain('the last good route table gw-system.team stays in use');
    expect(result.problems.map(({ problem }) => problem.code)).to.deep.equal(['MISSING_REFERENCE']);
  });

  it('follows its changes, and is replaced when the reference is valid again', () => {
    const changed = [upstream('v1'), upstream('v2'), table(route(single('v2'), '/a'))];
    expect(served(after([...world, to('team')], [...world, to('teem')], [...changed, to('teem')]))).to.deep.equal([
      'v2',
    ]);
    const other = table(route(single('v1'), '/z')).replace('name: team', 'name: teem');
    expect(served(after([...world, to('team')], [...world, to('teem')], [...world, other, to('teem')]))).to.deep.equal([
      'v1',
    ]);
  });

  it('has no routes if it never was good, if it is deleted, and after a restart', () => {
    expect(served(after([...world, to('teem')]))).to.deep.equal([]);
    expect(served(after([...world, to('team')], [upstream('v1'), upstream('v2'), to('team')]))).to.deep.equal([]);
  });

  it('has no routes if the same change removes its access rules', () => {
    const denied = ', options: { rbac: { policies: {} } }';
    expect(served(after([...world, to('team', denied)], [...world, to('teem', denied)]))).to.have.length(2);
    expect(served(after([...world, to('team', denied)], [...world, to('teem')]))).to.deep.equal([]);
  });
});

describe('a problem of a part that keeps its last good version', () => {
  const directory = join(import.meta.dirname, '../../golden');
  const documentsOf = (name: string, step: 'in' | 'then') =>
    splitDocuments(readFileSync(join(directory, `${name}.${step}.yaml`), 'utf8'));

  for (const name of [
    'virtual-service-upstream-misspelt-later',
    'virtual-service-option-ref-misspelt-later',
    'route-table-upstream-misspelt-later',
    'tls-secret-misspelt-later',
    'upstream-tls-secret-misspelt-later',
  ]) {
    it(`reports it in a field: ${name}`, () => {
      const { problems } = after(documentsOf(name, 'in'), documentsOf(name, 'then'));
      const kept = problems.filter(({ problem }) => /last good/.test(problem.message));
      expect(kept).to.not.deep.equal([]);
      expect(problems.filter(({ problem }) => problem.effect === 'keeps-last-good')).to.deep.equal(kept);
    });
  }

  it('reports it in a field for a route table', () => {
    const shop = (ref: string): string => service(route(`delegateAction: { ref: { name: ${ref} } }`));
    const world = [upstream('v1'), table(route(single('v1'), '/a'))];
    const { problems } = after([...world, shop('team')], [...world, shop('teem')]);
    expect(problems.map(({ problem }) => problem.effect)).to.deep.equal(['keeps-last-good']);
  });

  it('reports in a field that a delegating route has no routes', () => {
    for (const delegation of ['{ ref: { name: none } }', '{ selector: { labels: { a: b } } }', '{}']) {
      const { problems } = after([upstream('v1'), service(route(`delegateAction: ${delegation}`))]);
      expect(
        problems.map(({ problem }) => problem.effect),
        delegation,
      ).to.deep.equal(['lacks-routes']);
    }
  });
});
