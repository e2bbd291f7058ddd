import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createControlPlane, loadDirectory } from '../../src/control/control-plane.ts';
import type { ControlPlaneState } from '../../src/control/state.ts';
import { createLoggers } from '../../src/observe/logger.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { memorySource } from '../../src/source/memory.ts';
import { upstream } from './upstream.ts';

const service = (name: string, to: string, domain = `${name}.example.com`) => ({
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualService',
  metadata: { name },
  spec: {
    virtualHost: {
      domains: [domain],
      routes: [
        { matchers: [{ prefix: '/' }], routeAction: { single: { upstream: { name: to, namespace: 'gw-system' } } } },
      ],
    },
  },
});

function lines() {
  const written: { level: number; msg: string; revision?: number; places?: number; problems?: number }[] = [];
  const log = createLoggers({ destination: { write: (text: string) => void written.push(JSON.parse(text)) } });
  return { written, log };
}
const hostsOf = (state: ControlPlaneState | undefined): string[] =>
  [...(state?.snapshots.values() ?? [])].flatMap(({ listeners }) =>
    listeners.flatMap(({ virtualHosts }) => virtualHosts.map(({ name }) => name)),
  );
const stateOf = (state: ControlPlaneState | undefined, key: string): string | undefined =>
  state?.statuses.get(key as never)?.statuses['gw-system']?.state;

describe('createControlPlane', () => {
  it('has the first complete state when start resolves', async () => {
    const controlPlane = createControlPlane({ source: memorySource({ a: [upstream('a'), service('s', 'a')] }) });
    expect(controlPlane.state).to.equal(undefined);
    await controlPlane.start();
    const { state } = controlPlane;
    expect(state!.revision).to.equal(1);
    expect([...state!.resources.keys()].sort()).to.deep.equal(['Upstream/gw-system/a', 'VirtualService/gw-system/s']);
    expect(hostsOf(state)).to.deep.equal(['gw-system.s']);
    expect(state!.issues).to.deep.equal([]);
    expect(stateOf(state, 'VirtualService/gw-system/s')).to.equal('Accepted');
    await controlPlane.close();
  });

  it('starts without resources, and with only rejected ones', async () => {
    for (const resources of [{}, { a: 'kind: [', b: upstream('a', 'many') }]) {
      const controlPlane = createControlPlane({ source: memorySource(resources) });
      await controlPlane.start();
      expect(controlPlane.state!.resources.size).to.equal(0);
      expect(controlPlane.state!.issues).to.have.length(Object.keys(resources).length);
    }
  });

  it('publishes each change, and the current state to later subscribers', async () => {
    const source = memorySource({ a: upstream('a') });
    const controlPlane = createControlPlane({ source });
    const revisions: number[] = [];
    const stop = controlPlane.subscribe(({ revision }) => revisions.push(revision));
    await controlPlane.start();
    source.set('s', service('s', 'a'));
    source.set('s', service('s', 'a'));
    controlPlane.subscribe(({ revision }) => revisions.push(revision * 100));
    stop();
    source.delete('s');
    expect(revisions).to.deep.equal([1, 2, 200, 300]);
  });

  it('keeps unchanged parts identical', async () => {
    const source = memorySource({ a: upstream('a'), s: service('s', 'a'), t: service('t', 'a') });
    const controlPlane = createControlPlane({ source });
    await controlPlane.start();
    const before = controlPlane.state!.snapshots.get('gateway-proxy')!.listeners[0]!.virtualHosts;
    source.set('t', service('t', 'a', 'other.example.com'));
    const after = controlPlane.state!.snapshots.get('gateway-proxy')!.listeners[0]!.virtualHosts;
    expect(after[0]).to.equal(before[0]);
    expect(after[1]).to.not.equal(before[1]);
  });

  it('publishes every AuthConfig with its fault, and the Settings, also if nothing refers to them', async () => {
    const auth = (name: string, secret: string) => ({
      apiVersion: 'enterprise.gw.vendor.io/v1',
      kind: 'AuthConfig',
      metadata: { name },
      spec: {
        configs: [
          {
            oauth2: {
              oauth2: {
                appUrl: 'https://app.example.com',
                callbackPath: '/callback',
                authEndpoint: 'https://idp.example.com/auth',
                tokenEndpoint: 'https://idp.example.com/token',
                clientId: 'app',
                ...(secret ? { clientSecretRef: { name: secret } } : { disableClientSecret: true }),
              },
            },
          },
        ],
      },
    });
    const settings = {
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Settings',
      metadata: { name: 'default', namespace: 'gw-system' },
      spec: { extauth: { userIdHeader: 'x-user' } },
    };
    const source = memorySource({ a: [auth('good', ''), auth('broken', 'missing'), settings] });
    const plane = createControlPlane({ source, log: lines().log });
    await plane.start();
    const { authConfigs, settings: served } = plane.state!;
    expect(authConfigs.get('AuthConfig/gw-system/good')?.config?.ref.name).to.equal('good');
    expect(authConfigs.get('AuthConfig/gw-system/broken')?.config).to.equal(undefined);
    expect(authConfigs.get('AuthConfig/gw-system/broken')?.fault?.message).to.include('missing');
    expect(served.extauth?.userIdHeader).to.equal('x-user');
    await plane.close();
  });

  it('serves the last good version of a rejected resource, and reports the newest', async () => {
    const source = memorySource({ a: upstream('a'), s: service('s', 'a') });
    const controlPlane = createControlPlane({ source });
    await controlPlane.start();
    const [before] = controlPlane.state!.snapshots.values();
    source.set('s', { ...service('s', 'a'), spec: { virtualHosts: {} } });
    const { state } = controlPlane;
    expect([...state!.snapshots.values()][0]).to.equal(before);
    expect(stateOf(state, 'VirtualService/gw-system/s')).to.equal('Rejected');
    expect(state!.issues.map(({ code }) => code)).to.include('UNKNOWN_KEY');
  });

  it('survives a change that cannot be translated', async () => {
    const { written, log } = lines();
    let broken = false;
    const defaultGateways = {
      get httpPort(): number {
        if (broken) throw new Error('no port today');
        return 8080;
      },
    };
    const source = memorySource({ a: upstream('a'), s: service('s', 'a') });
    const controlPlane = createControlPlane({ source, defaultGateways, log });
    await controlPlane.start();
    const before = controlPlane.state;
    broken = true;
    source.set('t', service('t', 'a'));
    expect(controlPlane.state).to.equal(before);
    expect(written.at(-1)).to.include({ level: 50, reason: 'no port today' });
    broken = false;
    source.set('u', service('u', 'a'));
    expect(hostsOf(controlPlane.state)).to.deep.equal(['gw-system.s', 'gw-system.t', 'gw-system.u']);
    expect(controlPlane.state!.resources.size).to.equal(4);
  });

  it('publishes a state even if the first translation fails', async () => {
    const defaultGateways = {
      get httpPort(): number {
        throw new Error('never');
      },
    };
    const controlPlane = createControlPlane({ source: memorySource({ a: upstream('a') }), defaultGateways });
    await controlPlane.start();
    expect(controlPlane.state!.resources.size).to.equal(1);
    expect(controlPlane.state!.snapshots.size).to.equal(0);
  });

  it('survives a subscriber that throws', async () => {
    const source = memorySource({ a: upstream('a') });
    const { written, log } = lines();
    const controlPlane = createControlPlane({ source, log });
    const seen: number[] = [];
    controlPlane.subscribe(() => {
      throw new Error('mine');
    });
    controlPlane.subscribe(({ revision }) => seen.push(revision));
    await controlPlane.start();
    source.set('b', upstream('b'));
    expect(seen).to.deep.equal([1, 2]);
    expect(written.filter(({ level }) => level === 50)).to.have.length(2);
  });

  it('says which rejected resources keep their last good version', async () => {
    const { written, log } = lines();
    const source = memorySource({ a: upstream('a') });
    await createControlPlane({ source, log }).start();
    source.set('a', upstream('a', 'many'));
    source.set('b', upstream('b', 'many'));
    const messages = written.filter(({ level }) => level === 50).map(({ msg }) => msg);
    expect(messages).to.have.length(2);
    expect(messages[0]).to.match(/Upstream gw-system\/a .*; the last good version stays in use$/);
    expect(messages[1]).to.contain('Upstream gw-system/b').and.not.contain('last good');
  });

  it('logs one line per change, and each problem once', async () => {
    const { written, log } = lines();
    const source = memorySource({ a: upstream('a'), s: service('s', 'missing') });
    await createControlPlane({ source, log }).start();
    source.set('b', upstream('b', 'many'));
    source.set('c', upstream('c'));
    source.set('b', upstream('b'));
    source.set('b', upstream('b', 'many'));
    expect(written.filter(({ msg }) => msg === 'configuration applied').map(({ revision }) => revision)).to.deep.equal([
      1, 2, 3, 4, 5,
    ]);
    const applied = written.find(({ msg, revision }) => msg === 'configuration applied' && revision === 2);
    expect(applied).to.include({ resources: 2, rejected: 1 });
    const problems = written.filter(({ msg }) => msg !== 'configuration applied');
    expect(problems.map(({ level, revision }) => [level, revision])).to.deep.equal([
      [problems[0]!.level, 1],
      [50, 2],
      [50, 5],
    ]);
    const upstreamField = 'spec.virtualHost.routes[0].routeAction.single.upstream';
    expect(problems[0]!.msg).to.match(/^memory:s:1:\d+ {2}VirtualService gw-system\/s {2}.*missing/);
    expect(problems[0]!.msg).to.contain(`  ${upstreamField}  Route Warning: InvalidDestinationWarning`);
    expect(problems[1]!.msg).to.match(/^memory:b:1:1 {2}Upstream gw-system\/b {2}spec\.static\.hosts\[0\]\.port/);
  });

  it('logs a bad TLS Secret once, at the virtual service that refers to it', async () => {
    const { written, log } = lines();
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'cert' },
      type: 'kubernetes.io/tls',
      data: {},
    };
    const secure = service('s', 'a');
    const sslConfig = { secretRef: { name: 'cert', namespace: 'gw-system' } };
    const source = memorySource({ a: upstream('a'), c: secret, s: { ...secure, spec: { ...secure.spec, sslConfig } } });
    await createControlPlane({ source, log }).start();
    const told = written.filter(({ msg }) => msg.includes('SSLConfigError'));
    expect(told).to.have.length(1);
    expect(told[0]!.level).to.equal(50);
    expect(told[0]!.msg).to.match(/VirtualService gw-system\/s {2}spec\.sslConfig\.secretRef {2}.*gw-system\.cert/);
    source.set('t', service('t', 'a'));
    expect(written.filter(({ msg }) => msg.includes('SSLConfigError'))).to.have.length(1);
  });

  it('uses the last good version of one resource, and nothing of another that was never good, in one file', async () => {
    const file = (first: unknown, second: unknown) => [upstream('a'), first, second];
    const bad = (name: string) => ({ ...service(name, 'a'), spec: { virtualHosts: {} } });
    const source = memorySource({ f: file(service('good', 'a'), bad('never')) });
    const controlPlane = createControlPlane({ source });
    await controlPlane.start();
    expect(hostsOf(controlPlane.state)).to.deep.equal(['gw-system.good']);
    source.set('f', file(bad('good'), bad('never')));
    const { state } = controlPlane;
    expect(hostsOf(state)).to.deep.equal(['gw-system.good']);
    expect([...state!.resources.keys()].sort()).to.deep.equal([
      'Upstream/gw-system/a',
      'VirtualService/gw-system/good',
    ]);
    for (const name of ['good', 'never']) {
      expect(stateOf(state, `VirtualService/gw-system/${name}`), name).to.equal('Rejected');
      expect(
        state!.issues.some((issue) => issue.name === name && issue.code === 'UNKNOWN_KEY'),
        name,
      ).to.equal(true);
    }
  });

  it('says that a problem is in the last good version if the next version is rejected', async () => {
    const text = (to: string, more = '') => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: s }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: ${to} } } }
${more}`;
    const target =
      'apiVersion: gw.vendor.io/v1\nkind: Upstream\nmetadata: { name: a }\nspec: { static: { hosts: [{ addr: 127.0.0.1, port: 1 }] } }\n';
    const file = (service: string) => `${target}---\n${service}`;
    const source = memorySource({ f: file(text('typo')) });
    const controlPlane = createControlPlane({ source });
    await controlPlane.start();
    const found = () => controlPlane.state!.issues.map(({ code, origin, hint }) => [code, origin.line, hint]);
    expect(found()).to.deep.equal([['MISSING_REFERENCE', 14, undefined]]);
    for (const mistake of ['  x: [\n', 'specs: {}\n', '  x: 1\n']) {
      source.set('f', file(text('a', mistake)));
      const [rejected, ...others] = found().sort(([, a], [, b]) => Number(b) - Number(a));
      expect(rejected![0], mistake).not.to.equal('MISSING_REFERENCE');
      const hint = 'in the last good version, which stays in use until the new one is valid';
      expect(others, mistake).to.deep.equal([['MISSING_REFERENCE', 6, hint]]);
      const { state, reason } = controlPlane.state!.statuses.get('VirtualService/gw-system/s')!.statuses['gw-system']!;
      expect(state).to.equal('Rejected');
      expect(reason).to.match(
        /not found.* \(in the last good version, which stays in use until the new one is valid\)/,
      );
    }
    source.set('f', file(text('a')));
    expect(found()).to.deep.equal([]);
  });

  it('says that a missing resource has a rejected document', async () => {
    const source = memorySource({ f: [{ ...upstream('a'), kind: 'Upstraem' }, service('s', 'a'), service('t', 'b')] });
    const controlPlane = createControlPlane({ source });
    await controlPlane.start();
    const hints = controlPlane.state!.issues.map(({ code, name, hint }) => [code, name, hint]);
    expect(hints).to.have.deep.members([
      ['UNKNOWN_KIND', 'a', 'did you mean Upstream?'],
      ['MISSING_REFERENCE', 's', 'a document with this name is rejected, see its own problem'],
      ['MISSING_REFERENCE', 't', undefined],
    ]);
  });

  it('reports a domain conflict beside other problems of the same virtual service', async () => {
    const text = (name: string, to: string): string => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name} }
spec:
  virtualHost:
    domains: [same.example.com]
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: ${to} } } }
`;
    const source = memorySource({ a: upstream('a'), s: text('s', 'gone'), t: text('t', 'a') });
    const controlPlane = createControlPlane({ source });
    await controlPlane.start();
    const { issues, statuses } = controlPlane.state!;
    const reasonOf = (name: string) =>
      statuses.get(`VirtualService/gw-system/${name}`)!.statuses['gw-system']!.reason ?? '';
    expect(reasonOf('s')).to.match(/DomainsNotUniqueError[^]*warning: \n.*gone \} not found/);
    expect(reasonOf('t')).to.contain('DomainsNotUniqueError').and.not.contain('gone');
    expect(issues.map(({ name, severity, origin }) => [name, severity, origin.line])).to.deep.equal([
      ['s', 'error', 6],
      ['s', 'warning', 9],
      ['t', 'error', 6],
    ]);
  });

  it('reports the line of a problem in the second document of a file', async () => {
    const second = `# the second
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: s }
spec:
  virtualHost:
    optins: {}
`;
    const third = second.replace(
      'optins: {}',
      'routes:\n      - routeAction: { single: { upstream: { name: gone } } }',
    );
    const first =
      'apiVersion: gw.vendor.io/v1\nkind: Upstream\nmetadata: { name: a }\nspec: { static: { hosts: [] } }\n';
    const source = memorySource({ f: [first, second, third.replace('name: s', 'name: t')].join('---\n') });
    const controlPlane = createControlPlane({ source });
    await controlPlane.start();
    const places = controlPlane.state!.issues.map(({ kind, origin, path }) => [kind, origin.line, path.at(-1)]);
    expect(places).to.deep.equal([
      ['Upstream', 4, 'static'],
      ['VirtualService', 12, 'optins'],
      ['VirtualService', 21, 'upstream'],
    ]);
  });

  describe('with 40 broken references in one virtual service', () => {
    const routes = (to: (i: number) => string): string =>
      Array.from({ length: 40 }, (_, i) =>
        [
          `      - matchers: [{ prefix: /r${i} }]`,
          `        routeAction: { single: { upstream: { name: ${to(i)} } } }`,
        ].join('\n'),
      ).join('\n');
    const broken = (to: (i: number) => string): string => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: s }
spec:
  virtualHost:
    domains: ['*']
    routes:
${routes(to)}
`;

    it('reports each with its line and field', async () => {
      const controlPlane = createControlPlane({ source: memorySource({ s: broken((i) => `missing-${i}`) }) });
      await controlPlane.start();
      const { issues, statuses } = controlPlane.state!;
      expect(issues).to.have.length(40);
      for (const [i, { origin, path, message, severity }] of issues.entries()) {
        expect(origin.line).to.equal(9 + 2 * i);
        expect(path).to.deep.equal(['spec', 'virtualHost', 'routes', i, 'routeAction', 'single', 'upstream']);
        expect(message).to.contain(`missing-${i} `);
        expect(severity).to.equal('warning');
      }
      const { reason } = statuses.get('VirtualService/gw-system/s')!.statuses['gw-system']!;
      const lines = reason!.split('\n');
      expect(reason).to.have.length.at.most(2048);
      expect(lines.at(-1)).to.equal(`… and ${40 - (lines.length - 2)} more problems`);
    });

    it('logs one line for each cause, and counts every problem', async () => {
      const { written, log } = lines();
      const metrics = createMetrics();
      const source = memorySource({ s: broken(() => 'missing') });
      const controlPlane = createControlPlane({ source, log, metrics });
      await controlPlane.start();
      expect(controlPlane.state!.issues).to.have.length(40);
      const problems = written.filter(({ msg }) => msg !== 'configuration applied');
      expect(problems).to.have.length(1);
      expect(problems[0]).to.include({ level: 40, places: 40 });
      expect(problems[0]!.msg).to.match(/^memory:s:9:.*missing.* {2}\(and in 39 more places\)$/);
      expect(written.at(-1)).to.include({ msg: 'configuration applied', problems: 40 });
      expect(await metrics.registry.metrics()).to.match(/^validation_gateway_vendor_io_problems 40$/m);
    });
  });

  it('counts accepted and rejected resources and measures translation', async () => {
    const metrics = createMetrics();
    const source = memorySource({ a: upstream('a'), s: service('s', 'a') });
    await createControlPlane({ source, metrics }).start();
    source.set('b', upstream('b', 'many'));
    const text = await metrics.registry.metrics();
    expect(text).to.match(/^validation_gateway_vendor_io_resources_rejected 1$/m);
    expect(text).to.match(/^validation_gateway_vendor_io_valid_config 0$/m);
    expect(text).to.match(/^api_gw_vendor_io_translator_resources 2$/m);
    const translation = (name: string): string =>
      new RegExp(`^gw_edge_translation_time_sec_${name} (\\S+)$`, 'm').exec(text)?.[1] ?? '';
    expect(translation('count{translator_name="gateway"}')).to.equal('2');
    expect(Number(translation('sum{translator_name="gateway"}')))
      .to.be.greaterThan(0)
      .and.lessThan(60);
    expect(text).to.contain('translation_time_sec_bucket{translator_name="gateway",le="0.0005"}');
    expect(text).to.match(/translation_time_sec_bucket\{translator_name="gateway",le="60"\} 2$/m);
    expect(text).not.to.contain('translation_time_sec_bucket{translator_name="gateway",le="60000"}');
  });

  it('returns the same state for any order of the units', async () => {
    const units = { a: upstream('a'), b: upstream('a', 81), s: service('s', 'a'), t: service('t', 's'), u: 'x' };
    const plain = async (entries: [string, unknown][]): Promise<unknown> => {
      const controlPlane = createControlPlane({ source: memorySource(Object.fromEntries(entries)) });
      await controlPlane.start();
      const { issues, statuses, snapshots } = controlPlane.state!;
      return { issues, statuses: new Map([...statuses].sort()), snapshots };
    };
    expect(await plain(Object.entries(units).toReversed())).to.deep.equal(await plain(Object.entries(units)));
  });
});

describe('loadDirectory', () => {
  it('reads a directory once', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'resources-'));
    try {
      writeFileSync(join(directory, 'a.json'), JSON.stringify(upstream('a')));
      writeFileSync(join(directory, 'b.yaml'), 'a: 1\na: 2\n');
      const { resources, issues } = await loadDirectory(directory);
      expect([...resources.keys()]).to.deep.equal(['Upstream/gw-system/a']);
      expect(issues.map(({ origin }) => `${origin.file}:${origin.line}`)).to.deep.equal([
        `${join(directory, 'b.yaml')}:2`,
      ]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('rejects a missing directory', async () => {
    const error = await loadDirectory(join(tmpdir(), 'no-such-directory')).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'ERR_CORE_DIRECTORY_UNREADABLE' });
  });
});
