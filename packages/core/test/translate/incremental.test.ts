import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { keyOf, type Kind, type Resource, type ResourceKey } from '../../src/resource/resource.ts';
import type { VirtualHost } from '../../src/contract/snapshot.ts';
import type { StoredResource, StoreState } from '../../src/resource/stored.ts';
import { withChanges } from '../../src/layered-map.ts';
import { translate } from '../../src/translate/translate.ts';
import type { Translation } from '../../src/translate/translate.ts';
import { randomOf, shuffled } from './random.ts';

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value;
}

interface Named {
  readonly kind: Kind;
  readonly name: string;
  readonly labels?: Record<string, string>;
}

function stored({ kind, name, labels }: Named, spec: unknown): StoredResource {
  const metadata = { name, namespace: 'gw-system', labels };
  const origin = { file: 'memory:1', line: 1, column: 1 };
  const resource = { apiVersion: 'v1', kind, metadata, spec, origin } as Resource;
  return freeze({ key: keyOf(kind, metadata), resource, stale: false, issues: [] });
}

class Stock {
  readonly #stored = new Map<ResourceKey, StoredResource>();
  #revision = 0;

  put(entry: StoredResource): void {
    this.#stored.set(entry.key, entry);
  }

  remove(kind: Kind, name: string): void {
    this.#stored.delete(keyOf(kind, { name, namespace: 'gw-system' }));
  }

  state(seed = 0): StoreState {
    const entries = [...this.#stored];
    return {
      revision: ++this.#revision,
      stored: new Map(seed ? shuffled(entries, seed) : entries),
      faulty: new Map(),
      unfiled: [],
    };
  }
}

const to = (name: string) => ({ single: { upstream: { name } } });
const upstream = (name: string, port = 9000, more = {}) =>
  stored({ kind: 'Upstream', name }, { static: { hosts: [{ addr: '127.0.0.1', port }] }, ...more });
const service = (name: string, upstreamName: string, prefix = '/') =>
  stored(
    { kind: 'VirtualService', name },
    {
      virtualHost: {
        domains: [`${name}.example.com`],
        routes: [
          {
            name: 'first',
            matchers: [{ prefix: `${prefix}x` }],
            routeAction: to(upstreamName),
            options: { timeout: '1s' },
          },
          { matchers: [{ prefix }], routeAction: to(upstreamName) },
        ],
      },
    },
  );

const hostsOf = (translation: Translation) =>
  translation.snapshots.get('gateway-proxy')!.listeners.flatMap(({ virtualHosts }) => virtualHosts);
/** Unlike {@link hostsOf}, of all proxies, which may be none. */
const servedHosts = ({ snapshots }: Translation) =>
  [...snapshots.values()].flatMap(({ listeners }) => listeners.flatMap(({ virtualHosts }) => virtualHosts));
const byName = (hosts: readonly VirtualHost[], name: string) =>
  hosts.find((host) => host.name === `gw-system.${name}`)!;

function three(): Stock {
  const stock = new Stock();
  for (const name of ['one', 'two', 'three']) stock.put(service(name, 'echo'));
  stock.put(upstream('echo'));
  return stock;
}

describe('incremental translation', () => {
  it('returns the same snapshot and statuses if nothing changed, also in another order', () => {
    const stock = three();
    const first = translate(stock.state());
    const second = translate(stock.state(7), first.memo);
    expect(second.snapshots.get('gateway-proxy')).to.equal(first.snapshots.get('gateway-proxy'));
    expect(second.proxies).to.equal(first.proxies);
    for (const [key, status] of first.statuses) expect(second.statuses.get(key)).to.equal(status);
  });

  it('rebuilds only the changed virtual host and route', () => {
    const stock = three();
    const first = translate(stock.state());
    const changed = service('two', 'echo', '/new');
    const spec = structuredClone(changed.resource!.spec) as { virtualHost: { routes: { matchers: unknown }[] } };
    spec.virtualHost.routes[0]!.matchers = [{ prefix: '/x' }];
    stock.put(stored({ kind: 'VirtualService', name: 'two' }, spec));
    const second = translate(stock.state(), first.memo);
    const [before, after] = [hostsOf(first), hostsOf(second)];
    expect(byName(after, 'one')).to.equal(byName(before, 'one'));
    expect(byName(after, 'two')).not.to.equal(byName(before, 'two'));
    expect(byName(after, 'two').routes[0]).to.equal(byName(before, 'two').routes[0]);
    expect(byName(after, 'two').routes[1]).not.to.equal(byName(before, 'two').routes[1]);
    const [old, now] = [first, second].map((one) => one.snapshots.get('gateway-proxy')!);
    expect(now!.version).not.to.equal(old!.version);
    expect(now!.upstreams).to.equal(old!.upstreams);
  });

  it('serves a virtual host again after the other claimant of its domain is removed', () => {
    const stock = new Stock();
    const claiming = (name: string, domains: readonly string[]) =>
      stored({ kind: 'VirtualService', name }, { virtualHost: { domains, routes: [] } });
    stock.put(claiming('a', ['same.example.com']));
    stock.put(claiming('b', ['other.example.com']));
    const first = translate(stock.state());
    stock.put(claiming('c', ['same.example.com', 'c.example.com']));
    const second = translate(stock.state(), first.memo);
    expect(byName(hostsOf(second), 'a')).to.equal(byName(hostsOf(first), 'a'));
    expect(byName(hostsOf(second), 'c')).to.equal(undefined);
    stock.remove('VirtualService', 'a');
    const third = translate(stock.state(), second.memo);
    expect(byName(hostsOf(third), 'c').domains).to.deep.equal(['same.example.com', 'c.example.com']);
    expect(third.statuses.get('VirtualService/gw-system/c')!.statuses['gw-system']!.state).to.equal('Accepted');
  });

  it('keeps the virtual hosts if only an upstream changes', () => {
    const stock = three();
    const first = translate(stock.state());
    stock.put(upstream('echo', 9001));
    const second = translate(stock.state(), first.memo);
    expect(hostsOf(second)[0]).to.equal(hostsOf(first)[0]);
    expect(second.snapshots.get('gateway-proxy')!.upstreams[0]!.endpoints[0]!.port).to.equal(9001);
  });

  it('returns the same version for the same content', () => {
    const stock = three();
    const first = translate(stock.state());
    stock.put(service('two', 'echo', '/other'));
    const second = translate(stock.state(), first.memo);
    stock.put(service('two', 'echo'));
    const third = translate(stock.state(), second.memo);
    expect(third.snapshots.get('gateway-proxy')!.version).to.equal(first.snapshots.get('gateway-proxy')!.version);
  });

  it('returns another version if only the settings differ', () => {
    const stock = three();
    const first = translate(stock.state());
    stock.put(stored({ kind: 'Settings', name: 'default' }, { rbac: { requireRbac: true } }));
    const [old, now] = [first, translate(stock.state(), first.memo)].map((one) => one.snapshots.get('gateway-proxy')!);
    expect([old!.settings.requireRbac, now!.settings.requireRbac]).to.deep.equal([false, true]);
    expect(now!.listeners).to.equal(old!.listeners);
    expect(now!.version).not.to.equal(old!.version);
  });

  it('freezes its output and does not change its input', () => {
    const stock = three();
    const state = stock.state();
    const text = JSON.stringify([...state.stored]);
    const { snapshots, statuses, proxies } = translate(freeze(state));
    expect(JSON.stringify([...state.stored])).to.equal(text);
    const open: unknown[] = [];
    const visit = (value: unknown) => {
      if (typeof value !== 'object' || value === null) return;
      if (!Object.isFrozen(value)) open.push(value);
      Object.values(value).forEach(visit);
    };
    for (const part of [...snapshots.values(), ...statuses.values(), ...proxies]) visit(part);
    expect(open).to.deep.equal([]);
  });
});

const certificate = readFileSync(join(import.meta.dirname, '../golden/tls-secret.in.yaml'), 'utf8');
const pem = (entry: string) => new RegExp(`${entry}: (\\S+)`).exec(certificate)![1]!;
/** One object, because checking a certificate takes long. */
const secretSpec = { type: 'kubernetes.io/tls', data: { 'tls.crt': pem('tls.crt'), 'tls.key': pem('tls.key') } };

/** Kinds that only some sequences change; the others keep their meaning when kinds are added. */
type Extra = 'RateLimitConfig';

/** One random change of a small world in which names meet often. */
function edit(stock: Stock, random: () => number, extra?: Extra): void {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const letter = () => pick(['a', 'b', 'c', 'd']);
  const some = (kind: Kind, make: (name: string) => StoredResource) => {
    const name = letter();
    if (random() < 0.3) stock.remove(kind, name);
    else stock.put(make(name));
  };
  const prefix = () => pick(['/', '/a', '/a/b', '/c']);
  const action = () =>
    pick<object>([
      { routeAction: to(letter()) },
      {
        routeAction: {
          multi: {
            destinations: [letter(), letter()].map((name) => ({ destination: { upstream: { name } }, weight: 1 })),
          },
        },
      },
      { routeAction: { upstreamGroup: { name: letter() } } },
      { delegateAction: { ref: { name: letter(), namespace: 'gw-system' } } },
      { delegateAction: { selector: { labels: { team: letter() } } } },
      { redirectAction: { hostRedirect: 'x.example.com' } },
    ]);
  const shared = (count: number) => ({
    delegateOptions: Array.from({ length: count }, () => ({ name: letter(), namespace: 'gw-system' })),
  });
  const limits = (): object => {
    if (!extra || random() < 0.5) return {};
    const refs = Array.from({ length: Math.ceil(random() * 2) }, () => ({ name: letter(), namespace: 'gw-system' }));
    return { [pick(['rateLimitConfigs', 'rateLimitEarlyConfigs', 'rateLimitRegularConfigs'])]: { refs } };
  };
  const route = () => ({
    matchers: [{ prefix: prefix() }],
    ...action(),
    ...(random() < 0.4 && { options: { timeout: `${Math.ceil(random() * 3)}s`, ...limits() } }),
    ...(random() < 0.3 && { optionsConfigRefs: shared(1) }),
  });
  const routes = () => Array.from({ length: Math.ceil(random() * 3) }, route);
  const labels = () => ({ team: letter() });
  const edits = [
    () =>
      some('Upstream', (name) =>
        upstream(
          name,
          9000 + Math.floor(random() * 2),
          random() < 0.2 ? { sslConfig: { secretRef: { name: letter() } } } : {},
        ),
      ),
    () => some('Secret', (name) => stored({ kind: 'Secret', name }, secretSpec)),
    () =>
      some('UpstreamGroup', (name) =>
        stored(
          { kind: 'UpstreamGroup', name },
          { destinations: [{ destination: { upstream: { name: letter() } }, weight: 1 }] },
        ),
      ),
    () =>
      some('RouteTable', (name) =>
        stored({ kind: 'RouteTable', name, labels: labels() }, { weight: Math.floor(random() * 2), routes: routes() }),
      ),
    () =>
      some('ListenerOption', (name) =>
        stored(
          { kind: 'ListenerOption', name },
          {
            targetRefs: [{ group: 'gateway.vendor.io', kind: 'Gateway', name: letter() }],
            options: { perConnectionBufferLimitBytes: Math.ceil(random() * 3) },
          },
        ),
      ),
    () =>
      some('HttpListenerOption', (name) =>
        stored(
          { kind: 'HttpListenerOption', name },
          {
            targetRefs: [{ group: 'gateway.vendor.io', kind: 'Gateway', name: letter() }],
            options: pick<object>([{ healthCheck: { path: prefix() } }, { buffer: { maxRequestBytes: 9 } }]),
          },
        ),
      ),
    () =>
      some('RouteOption', (name) =>
        stored({ kind: 'RouteOption', name }, { options: { prefixRewrite: prefix(), timeout: '9s', ...limits() } }),
      ),
    () =>
      some('VirtualHostOption', (name) =>
        stored(
          { kind: 'VirtualHostOption', name },
          { options: { retries: { numRetries: Math.ceil(random() * 3) }, ...limits() } },
        ),
      ),
    () =>
      some('VirtualService', (name) =>
        stored(
          { kind: 'VirtualService', name, labels: labels() },
          {
            virtualHost: {
              domains: [`${letter()}${letter()}.example.com`],
              routes: routes(),
              ...(extra && { options: limits() }),
              ...(random() < 0.5 && { optionsConfigRefs: shared(2) }),
            },
            ...(random() < 0.3 && {
              sslConfig: pick([{ sslFiles: { tlsCert: 'c', tlsKey: 'k' } }, { secretRef: { name: letter() } }]),
            }),
          },
        ),
      ),
    () =>
      some('Gateway', (name) =>
        stored(
          { kind: 'Gateway', name },
          {
            bindPort: 8080 + Math.floor(random() * 3),
            ssl: random() < 0.3,
            httpGateway: random() < 0.4 ? { virtualServiceSelector: labels() } : {},
          },
        ),
      ),
    () => {
      if (random() < 0.5) stock.remove('Settings', 'default');
      else
        stock.put(
          stored(
            { kind: 'Settings', name: 'default' },
            { gw: { invalidConfigPolicy: { replaceInvalidRoutes: random() < 0.5 } } },
          ),
        );
    },
  ];
  const limitEdit = () =>
    some('RateLimitConfig', (name) => {
      const rule = { key: 'generic_key', rateLimit: { requestsPerUnit: Math.ceil(random() * 3), unit: 'MINUTE' } };
      const rateLimits = [{ actions: [{ genericKey: { descriptorValue: letter() } }] }];
      return stored({ kind: 'RateLimitConfig', name }, { raw: { descriptors: [rule], rateLimits } });
    });
  pick(extra ? [...edits, limitEdit, limitEdit] : edits)();
}

/** Everything that a translation says. */
function plain(translation: Translation): unknown {
  return JSON.parse(
    JSON.stringify({
      snapshots: [...translation.snapshots.values()],
      proxies: translation.proxies,
      statuses: [...translation.statuses].sort(([a], [b]) => (a < b ? -1 : 1)),
    }),
  );
}

/** The same resources as new objects, so that nothing of a translation before can be taken over as it is. */
function renewed(state: StoreState): StoreState {
  const renew = (entry: StoredResource): StoredResource => {
    if (entry.resource?.kind !== 'Secret') return freeze(structuredClone(entry));
    return freeze({ ...entry, resource: { ...entry.resource } });
  };
  return { ...state, stored: new Map([...state.stored].map(([key, entry]) => [key, renew(entry)])) };
}

describe('a change of the Settings alone', () => {
  it('equals a full translation: oneWayTls', () => {
    const stock = new Stock();
    const secure = service('secure', 'echo');
    const spec = { ...(secure.resource!.spec as object), sslConfig: { secretRef: { name: 'pair' } } };
    stock.put(stored({ kind: 'VirtualService', name: 'secure' }, spec));
    stock.put(stored({ kind: 'Secret', name: 'pair' }, secretSpec));
    stock.put(upstream('echo'));
    let memo: Translation['memo'] | undefined;
    for (const oneWayTls of [undefined, true, false, true]) {
      const gateway = { virtualServiceOptions: oneWayTls === undefined ? {} : { oneWayTls } };
      stock.put(stored({ kind: 'Settings', name: 'default' }, { gateway }));
      const translation = translate(stock.state(), memo);
      ({ memo } = translation);
      const [configuration] = translation.snapshots
        .get('gateway-proxy')!
        .listeners.flatMap(({ sslConfigurations }) => sslConfigurations);
      expect(configuration!.sslConfig.oneWayTls).to.equal(oneWayTls);
      expect(plain(translation)).to.deep.equal(plain(translate(stock.state())), `oneWayTls: ${oneWayTls}`);
    }
  });
});

const hasProblems = (translation: Translation) =>
  Array.from(translation.statuses.values()).some(({ statuses }) => statuses['gw-system']!.state !== 'Accepted');

describe('a sequence of changes', () => {
  let compared = 0;
  let limited = 0;
  const seeds = Array.from({ length: 25 }, (_, i) => i + 1);
  // Sequence 5141 lists a missing option twice.
  const plainOnes = [...seeds, 5141].map((seed) => ({ seed, extra: undefined }));
  const ofLimits = seeds.slice(0, 12).map((seed) => ({ seed, extra: 'RateLimitConfig' as const }));
  for (const { seed, extra } of [...plainOnes, ...ofLimits]) {
    it(`equals a full translation at each step (sequence ${seed}${extra ? ` with ${extra}` : ''})`, () => {
      const random = randomOf(seed);
      const stock = new Stock();
      let translation: Translation | undefined;
      let whole: Translation | undefined;
      for (let step = 0; step < 60; step++) {
        edit(stock, random, extra);
        const state = stock.state(step);
        translation = translate(state, translation?.memo);
        whole = translate(renewed(stock.state()), whole?.memo);
        if (servedHosts(translation).some(({ rateLimitConfigs }) => rateLimitConfigs.length > 0)) limited++;
        expect(plain(translation)).to.deep.equal(plain(whole), `step ${step}`);
        // Parts with problems keep what they served before, which a translation from scratch cannot know.
        const scratch = translate(stock.state());
        if (hasProblems(scratch)) continue;
        compared++;
        expect(plain(translation)).to.deep.equal(plain(scratch), `step ${step}`);
      }
    });
  }

  it('includes states without problems', () => {
    expect(compared).to.be.greaterThan(100);
  });

  it('includes states with RateLimitConfigs in use', () => {
    expect(limited).to.be.greaterThan(50);
  });
});

describe('batches of changes of many virtual services', () => {
  const few = [1, 2, 3, 4, 5, 6].map((seed) => ({ seed, names: 40, steps: 60 }));
  // So many that the ranges of changed items are remembered.
  const many = { seed: 7, names: 300, steps: 10 };
  for (const { seed, names, steps } of [...few, many]) {
    it(`equal full translations (sequence ${seed}, ${names} names)`, () => {
      const random = randomOf(seed);
      const below = (limit: number) => Math.floor(random() * limit);
      const stock = new Stock();
      stock.put(upstream('echo'));
      for (let i = 40; i < names; i++) stock.put(service(`service-${i}`, 'echo'));
      let contested = 0;
      let translation: Translation | undefined;
      let whole: Translation | undefined;
      let layered: StoreState['stored'] = new Map();
      for (let step = 0; step < steps; step++) {
        const changes = new Map<ResourceKey, StoredResource | undefined>();
        for (let i = below(4); i >= 0; i--) {
          const name = `service-${below(names)}`;
          const key = keyOf('VirtualService', { name, namespace: 'gw-system' });
          if (random() < 0.3) {
            stock.remove('VirtualService', name);
            changes.set(key, undefined);
            continue;
          }
          // Some claim the domain of another, and some have TLS and so move to the other listener.
          const domains = [`${random() < 0.1 ? `service-${below(names)}` : name}.example.com`];
          const routes = [
            { matchers: [{ prefix: `/${below(3)}` }], routeAction: to(random() < 0.1 ? 'none' : 'echo') },
          ];
          const tls = random() < 0.1 && { sslConfig: { secretRef: { name: 'pair' } } };
          const changed = stored({ kind: 'VirtualService', name }, { virtualHost: { domains, routes }, ...tls });
          stock.put(changed);
          changes.set(key, changed);
        }
        const { stored: plainState } = stock.state();
        layered = withChanges(step === 0 ? plainState : layered, changes, 0);
        translation = translate({ stored: layered }, translation?.memo);
        whole = translate(renewed(stock.state(step)), whole?.memo);
        expect(plain(translation)).to.deep.equal(plain(whole), `step ${step}`);
        const scratch = translate(stock.state());
        if (hasProblems(scratch)) contested++;
        else expect(plain(translation)).to.deep.equal(plain(scratch), `step ${step}`);
      }
      expect(contested).to.be.greaterThan(5);
    });
  }
});
