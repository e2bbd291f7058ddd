import { expect } from 'chai';
import { formatPath } from '../../../src/resource/problem.ts';
import { keyOf, type ResourceKey } from '../../../src/resource/resource.ts';
import type { StoredResource } from '../../../src/resource/stored.ts';
import type { VirtualHost } from '../../../src/contract/snapshot.ts';
import { translate, type Translation } from '../../../src/translate/translate.ts';
import { unvalidated } from '../unvalidated.ts';

const UPSTREAM = `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo, namespace: gw-system }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 9000 }] } }
`;
const config = (name: string, requests = 10, namespace = 'gw-system') => `apiVersion: ratelimit.vendor.io/v1alpha1
kind: RateLimitConfig
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  raw:
    descriptors: [{ key: user, rateLimit: { requestsPerUnit: ${requests}, unit: MINUTE } }]
    rateLimits: [{ actions: [{ requestHeaders: { headerName: x-user-id, descriptorKey: user } }] }]
`;
const FORWARD = 'routeAction: { single: { upstream: { name: echo } } }';
const service = (name: string, host: string, ...routes: string[]) => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name}, namespace: gw-system }
spec:
  virtualHost: { domains: [${name}.example.com], ${host}routes: [${routes.map((route) => `{ ${route} }`).join(', ')}] }
`;
const route = (path: string, more = '', action = FORWARD) =>
  [`matchers: [{ prefix: ${path} }]`, ...(more ? [more] : []), action].join(', ');
const refs = (...names: string[]) =>
  `rateLimitConfigs: { refs: [${names.map((name) => `{ name: ${name} }`).join(', ')}] }`;
const BASIC = 'ratelimitBasic: { anonymousLimits: { requestsPerUnit: 1, unit: SECOND } }';

function run(...documents: string[]): Translation {
  return translate({ stored: unvalidated([UPSTREAM, ...documents].join('---\n')) });
}

function problemsOf({ problems }: Translation): string[] {
  return problems
    .filter(({ key }) => !key.startsWith('Proxy/'))
    .map(({ key, problem: { severity, path, message, source } }) => {
      const from = source ? ` (${source.key} ${formatPath(source.path)})` : '';
      return `${severity} ${key} ${formatPath(path)}${from}: ${message}`;
    });
}

function hostsOf({ snapshots }: Translation): readonly VirtualHost[] {
  return [...snapshots.values()].flatMap(({ listeners }) => listeners.flatMap(({ virtualHosts }) => virtualHosts));
}

const hostError = (text: string) => `VirtualHost Error: ProcessingError. Reason: ${text}`;
const routeError = (text: string, name: string) => `Route Error: ProcessingError. Reason: ${text}. Route Name: ${name}`;

describe('rate limits of virtual hosts', () => {
  it('name the field that refers to a RateLimitConfig whose last good version is served', () => {
    const shop = service('shop', `options: { ${refs('a', 'b')} }, `, route('/a', `options: { ${refs('b')} }`));
    const stored = new Map(unvalidated([UPSTREAM, config('a'), config('b'), shop].join('---\n')));
    const key = keyOf('RateLimitConfig', { name: 'b', namespace: 'gw-system' });
    stored.set(key, { ...stored.get(key)!, stale: true });
    const warning = 'RateLimitConfig gw-system.b serves its last good version: it is not valid';
    const found = problemsOf(translate({ stored })).filter((text) => text.startsWith('warning VirtualService'));
    const at = 'warning VirtualService/gw-system/shop spec.virtualHost';
    expect(found).to.deep.equal([
      `${at}.options.rateLimitConfigs.refs[1]: ${warning}`,
      `${at}.routes[0].options.rateLimitConfigs.refs[0]: ${warning}`,
    ]);
  });

  it('contain the RateLimitConfigs of all levels, sorted and once', () => {
    const shop = service(
      'shop',
      `options: { ${refs('b', 'a')} }, `,
      route('/a', `options: { rateLimitEarlyConfigs: { refs: [{ name: a }, { name: a, namespace: team }] } }`),
      route('/b', `options: { rateLimitRegularConfigs: { refs: [{ name: c }] } }`),
    );
    const [host] = hostsOf(run(shop, config('a'), config('b'), config('c'), config('a', 10, 'team'), config('unused')));
    expect(host!.rateLimitConfigs.map(({ ref }) => `${ref.namespace}.${ref.name}`)).to.deep.equal([
      'gw-system.a',
      'gw-system.b',
      'gw-system.c',
      'team.a',
    ]);
    expect(host!.options.rateLimitConfigs?.refs?.[0]).to.deep.equal({ name: 'b', namespace: 'gw-system' });
  });

  it('are the same objects for several virtual hosts', () => {
    const host = `options: { ${refs('a')} }, `;
    const [one, other] = hostsOf(
      run(service('one', host, route('/')), service('other', host, route('/')), config('a')),
    );
    expect(one!.rateLimitConfigs).to.have.length(1);
    expect(one!.rateLimitConfigs[0]).to.equal(other!.rateLimitConfigs[0]);
  });

  it('reject a virtual host with a missing RateLimitConfig, at its reference, and no other', () => {
    const translation = run(
      service('shop', `options: { ${refs('a', 'bb')} }, `, route('/')),
      service('good', `options: { ${refs('a')} }, `, route('/')),
      config('a'),
      config('bbb'),
    );
    expect(problemsOf(translation)).to.deep.equal([
      `error VirtualService/gw-system/shop spec.virtualHost.options.rateLimitConfigs.refs[1]: ${hostError('RateLimitConfig gw-system.bb not found (did you mean bbb?)')}`,
    ]);
    expect(hostsOf(translation).map(({ name }) => name)).to.deep.equal(['gw-system.good']);
  });

  it('keep the last good version if their RateLimitConfig is removed', () => {
    const documents = [UPSTREAM, service('shop', `options: { ${refs('a')} }, `, route('/'))];
    const stored = unvalidated([...documents, config('a')].join('---\n'));
    const first = translate({ stored });
    const second = translate({ stored: unvalidated(documents.join('---\n'), stored) }, first.memo);
    expect(problemsOf(second)).to.have.length(1);
    expect(hostsOf(second)).to.deep.equal(hostsOf(first));
    expect(hostsOf(second)[0]!.rateLimitConfigs).to.have.length(1);
  });

  it('locate problems in shared options there', () => {
    const shared = (kind: string, options: string) =>
      `apiVersion: gateway.vendor.io/v1\nkind: ${kind}\nmetadata: { name: shared, namespace: team }\nspec: { options: { ${options} } }\n`;
    const by = 'optionsConfigRefs: { delegateOptions: [{ name: shared, namespace: team }] }';
    const local = 'localRatelimit: { maxTokens: 1 }';
    expect(
      problemsOf(
        run(
          service('shop', `options: { ratelimit: { ${local} } }, ${by}, `, route('/', by)),
          shared('VirtualHostOption', `ratelimitEarly: { ${local} }`),
          shared('RouteOption', refs('gone')),
        ),
      ),
    ).to.deep.equal([
      `error VirtualService/gw-system/shop spec.virtualHost.optionsConfigRefs.delegateOptions[0] (VirtualHostOption/team/shared spec.options.ratelimitEarly.localRatelimit): ${hostError('VirtualHostOption team.shared: localRatelimit cannot be in both ratelimit and ratelimitEarly')}`,
      `error VirtualService/gw-system/shop spec.virtualHost.routes[0].optionsConfigRefs.delegateOptions[0] (RouteOption/team/shared spec.options.rateLimitConfigs.refs[0]): ${routeError('RouteOption team.shared: RateLimitConfig team.gone not found', '<unnamed-0>')}`,
    ]);
  });

  it('report a rejected RateLimitConfig with its reason', () => {
    const stored = new Map(
      unvalidated([UPSTREAM, service('shop', `options: { ${refs('a')} }, `, route('/'))].join('---\n')),
    );
    const key = keyOf('RateLimitConfig', { name: 'a', namespace: 'gw-system' });
    const origin = { file: 'a.yaml', line: 1, column: 1 };
    const issues = [
      { code: 'INVALID_RATE_LIMIT', severity: 'error', path: ['spec', 'raw'], message: 'it is wrong', origin } as const,
    ];
    const rejected: StoredResource = { key, resource: undefined, stale: false, issues };
    stored.set(key, rejected);
    const [problem] = problemsOf(translate({ stored }));
    expect(problem).to.include('RateLimitConfig gw-system.a is rejected: spec.raw: it is wrong');
    const good = unvalidated(config('a')).get(key)!.resource!;
    stored.set(key, { ...rejected, resource: good, stale: true });
    const stale = translate({ stored });
    expect(problemsOf(stale)).to.deep.equal([
      'warning VirtualService/gw-system/shop spec.virtualHost.options.rateLimitConfigs.refs[0]: RateLimitConfig gw-system.a serves its last good version: spec.raw: it is wrong',
    ]);
    expect(hostsOf(stale)[0]!.rateLimitConfigs[0]!.spec).to.equal(good.spec);
  });
});

describe('rate limits of routes', () => {
  it('need a route that forwards', () => {
    const limits = `options: { ${BASIC}, ratelimit: { rateLimits: [] }, rateLimitEarlyConfigs: { refs: [] } }`;
    const found = problemsOf(
      run(
        service(
          'shop',
          '',
          route('/a', limits, 'directResponseAction: { status: 200 }'),
          route('/b', `options: { ratelimitRegular: {} }`, 'redirectAction: { pathRedirect: / }'),
        ),
      ),
    );
    const at = 'error VirtualService/gw-system/shop spec.virtualHost.routes';
    expect(found).to.deep.equal([
      `${at}[0].options.ratelimitBasic: ${routeError('ratelimitBasic cannot be used on a direct response', '<unnamed-0>')}`,
      `${at}[0].options.ratelimit: ${routeError('ratelimit cannot be used on a direct response', '<unnamed-0>')}`,
      `${at}[0].options.rateLimitEarlyConfigs: ${routeError('rateLimitEarlyConfigs cannot be used on a direct response', '<unnamed-0>')}`,
      `${at}[1].options.ratelimitRegular: ${routeError('ratelimitRegular cannot be used on a redirect', '<unnamed-1>')}`,
    ]);
  });

  it('need a unique name for ratelimitBasic', () => {
    const found = problemsOf(
      run(
        service(
          'shop',
          '',
          route('/a', `name: a, options: { ${BASIC} }`),
          route('/b', `options: { ${BASIC} }`),
          route('/c', `name: c`),
          route('/d', `name: c, options: { ${BASIC} }`),
          route('/e', `name: a, options: { ${BASIC} }`),
        ),
        service('other', '', route('/a', `name: a, options: { ${BASIC} }`)),
      ),
    );
    const at = 'error VirtualService/gw-system/shop spec.virtualHost.routes';
    expect(found).to.deep.equal([
      `${at}[1].options.ratelimitBasic: ${routeError('ratelimitBasic requires a route name', '<unnamed-1>')}`,
      `${at}[4].name: ${routeError("ratelimitBasic requires a unique route name: another limited route is named 'a'", 'a')}`,
    ]);
  });

  it('are replaced if a RateLimitConfig is missing and invalid routes are replaced', () => {
    const settings = `apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { gw: { invalidConfigPolicy: { replaceInvalidRoutes: true } } }
`;
    const translation = run(settings, service('shop', '', route('/a', `options: { ${refs('gone')} }`), route('/')));
    const [host] = hostsOf(translation);
    expect(host!.routes.map(({ action }) => action.type)).to.deep.equal(['replacement', 'forward']);
    expect(problemsOf(translation)[0]).to.match(/^warning .*routes\[0\]\.options\.rateLimitConfigs\.refs\[0\]/);
  });
});

describe('changes of a RateLimitConfig', () => {
  const documents = (requests: number) => [
    UPSTREAM,
    service('uses', `options: { ${refs('a')} }, `, route('/')),
    service('ignores', `options: { ${refs('b')} }, `, route('/')),
    config('a', requests),
    config('b'),
  ];

  it('rebuild only the virtual hosts that refer to it', () => {
    const stored = unvalidated(documents(10).join('---\n'));
    const first = translate({ stored });
    const next = unvalidated(documents(20).join('---\n'), stored);
    const second = translate({ stored: next }, first.memo);
    const [ignores, uses] = hostsOf(second);
    expect(ignores).to.equal(hostsOf(first)[0]);
    expect(uses).to.not.equal(hostsOf(first)[1]);
    expect(uses!.routes[0]).to.equal(hostsOf(first)[1]!.routes[0]);
    expect(uses!.rateLimitConfigs[0]!.spec.raw?.descriptors?.[0]?.rateLimit?.requestsPerUnit).to.equal(20);
    expect([...second.snapshots.values()][0]!.version).to.not.equal([...first.snapshots.values()][0]!.version);
  });

  it('change nothing if its content is the same', () => {
    const first = unvalidated(documents(10).join('---\n'));
    const before = translate({ stored: first });
    const again = new Map<ResourceKey, StoredResource>(first);
    const key = keyOf('RateLimitConfig', { name: 'a', namespace: 'gw-system' });
    again.set(key, unvalidated(config('a')).get(key)!);
    const after = translate({ stored: again }, before.memo);
    expect(hostsOf(after)).to.deep.equal(hostsOf(before));
    expect([...after.snapshots.values()][0]).to.equal([...before.snapshots.values()][0]);
  });
});

describe('limits without a rule in the Settings', () => {
  const settings = (fields: string) => `apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { ratelimit: { descriptors: [{ key: remote_address, rateLimit: { requestsPerUnit: 1, unit: SECOND } }] }${fields} }
`;
  const gateway = (server: string) => `apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gateway-proxy, namespace: gw-system }
spec: { bindPort: 8080, httpGateway: { options: { ratelimitServer: { ${server} } } } }
`;
  const limit = (action: string) => `{ rateLimits: [{ actions: [{ ${action} }] }] }`;
  const known = limit('remoteAddress: {}');
  const unknown = limit('genericKey: { descriptorValue: a }');
  const shop = service(
    'shop',
    `options: { ratelimit: ${known}, ratelimitEarly: ${unknown} }, `,
    route('/a', `options: { ratelimitRegular: ${unknown} }`),
    route('/b', `options: { ratelimit: ${known} }`),
  );
  const warning = (below: string) =>
    `warning VirtualService/gw-system/shop spec.virtualHost.${below}.rateLimits[0].actions[0]: these actions limit no request: no descriptor has 'generic_key' with the value 'a' (rules: spec.ratelimit of the Settings)`;
  const warnings = [warning('options.ratelimitEarly'), warning('routes[0].options.ratelimitRegular')];
  const ref = 'ratelimitServerRef: { name: echo }';

  it('are warnings at their actions; the virtual host is served', () => {
    const translation = run(settings(''), shop);
    expect(problemsOf(translation)).to.deep.equal(warnings);
    expect(hostsOf(translation)).to.have.length(1);
    expect(translation.statuses.get('VirtualService/gw-system/shop')!.statuses['gw-system']!.state).to.equal('Warning');
  });

  it('are all limits if there are no Settings', () => {
    expect(problemsOf(run(shop))).to.have.length(4);
  });

  it('are none with a rate limit server, which has its own rules', () => {
    expect(problemsOf(run(settings(`, ratelimitServer: { ${ref} }`), shop))).to.deep.equal([]);
    expect(problemsOf(run(settings(''), gateway(ref), shop))).to.deep.equal([]);
    const own = run(settings(`, ratelimitServer: { ${ref} }`), gateway('denyOnFail: true'), shop);
    expect(problemsOf(own)).to.deep.equal(warnings);
  });

  it('change with the Settings and with the server of the gateway', () => {
    const first = unvalidated([UPSTREAM, settings(''), gateway('denyOnFail: true'), shop].join('---\n'));
    const before = translate({ stored: first });
    const served = unvalidated([UPSTREAM, settings(''), gateway(ref), shop].join('---\n'), first);
    const after = translate({ stored: served }, before.memo);
    expect(problemsOf(before)).to.deep.equal(warnings);
    expect(problemsOf(after)).to.deep.equal([]);
    const other = settings('').replace('remote_address', 'generic_key');
    const last = unvalidated([UPSTREAM, other, gateway('denyOnFail: true'), shop].join('---\n'), served);
    expect(problemsOf(translate({ stored: last }, after.memo)).map((text) => text.split(': ')[0])).to.deep.equal([
      'warning VirtualService/gw-system/shop spec.virtualHost.options.ratelimit.rateLimits[0].actions[0]',
      'warning VirtualService/gw-system/shop spec.virtualHost.routes[1].options.ratelimit.rateLimits[0].actions[0]',
    ]);
  });
});

describe('the server of rate limits', () => {
  const settings = (server: string) => `apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { ratelimit: { descriptors: [{ key: a }] }, ratelimitServer: { ${server} } }
`;
  const gateway = (server: string) => `apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gateway-proxy, namespace: gw-system }
spec: { bindPort: 8080, httpGateway: { options: { ratelimitServer: { ${server} } } } }
`;

  it('is part of the settings of the snapshot', () => {
    const translation = run(
      settings('denyOnFail: true, ratelimitServerRef: { name: echo }'),
      service('a', '', route('/')),
    );
    const [snapshot] = translation.snapshots.values();
    expect(snapshot!.settings).to.deep.include({
      ratelimit: { descriptors: [{ key: 'a' }] },
      ratelimitServer: { denyOnFail: true, ratelimitServerRef: { name: 'echo' } },
    });
    expect(problemsOf(translation)).to.deep.equal([]);
  });

  it('causes a warning if its Upstream is rejected, with the reason', () => {
    const documents = [
      UPSTREAM,
      settings('ratelimitServerRef: { name: echo, namespace: "" }'),
      service('a', '', route('/')),
    ];
    const stored = new Map(unvalidated(documents.join('---\n')));
    const key = keyOf('Upstream', { name: 'echo', namespace: 'gw-system' });
    const origin = { file: 'a.yaml', line: 1, column: 1 };
    const issue = { code: 'STATUS', severity: 'error', path: ['spec'], message: 'it is wrong', origin } as const;
    stored.set(key, { key, resource: undefined, stale: false, issues: [issue] });
    const problem = problemsOf(translate({ stored })).find((text) => text.includes('Settings/'));
    expect(problem)
      .to.match(
        /^warning Settings\/gw-system\/default spec\.ratelimitServer\.ratelimitServerRef: requests are counted in the gateway: /,
      )
      .and.include('it is wrong');
  });

  it('causes no warning without a name, or for an Upstream that is usable', () => {
    const host = service('a', '', route('/'));
    for (const server of ['ratelimitServerRef: { name: "" }', 'denyOnFail: true', 'ratelimitServerRef: { name: echo }'])
      expect(problemsOf(run(settings(server), host)), server).to.deep.equal([]);
  });

  it('causes a warning if its Upstream is missing, until it exists', () => {
    const documents = [
      UPSTREAM,
      settings('ratelimitServerRef: { name: limits }'),
      gateway('ratelimitServerRef: { name: limits, namespace: team }'),
      service('a', '', route('/')),
    ];
    const stored = unvalidated(documents.join('---\n'));
    const first = translate({ stored });
    const counted = 'requests are counted in the gateway: Upstream';
    expect(problemsOf(first)).to.have.members([
      `warning Settings/gw-system/default spec.ratelimitServer.ratelimitServerRef: ${counted} gw-system.limits not found`,
      `warning Gateway/gw-system/gateway-proxy spec.httpGateway.options.ratelimitServer.ratelimitServerRef: ${counted} team.limits not found`,
    ]);
    const limits = UPSTREAM.replace('name: echo', 'name: limits');
    const more = [...documents, limits, limits.replace('gw-system', 'team')];
    const second = translate({ stored: unvalidated(more.join('---\n'), stored) }, first.memo);
    expect(problemsOf(second)).to.deep.equal([]);
    expect(second.statuses.get('Settings/gw-system/default')!.statuses['gw-system']!.state).to.equal('Accepted');
  });
});
