import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createContext,
  createControlPlane,
  createLoggers,
  directorySource,
  type ControlPlane,
  type SourceChange,
} from '@edge-gateway/core';
import { expect } from 'chai';
import { createControlAdmin, type AdminServer } from '../../../admin/src/index.ts';
import { compareServed, partsOf, type ProxyDiff } from '../../src/diff/comparison.ts';
import { CERTIFICATES } from '../support/certificates.ts';
import { call } from '../support/captured-io.ts';

const indented = (text: string) => text.trim().replaceAll(/^/gm, '    ');
const RESOURCES = `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 80 }] } }
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: more }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 81 }] } }
---
apiVersion: v1
kind: Secret
metadata: { name: tls }
type: kubernetes.io/tls
stringData:
  tls.crt: |
${indented(CERTIFICATES['tls.crt'])}
  tls.key: |
${indented(CERTIFICATES['tls.key'])}
---
apiVersion: v1
kind: Secret
metadata: { name: oauth }
type: extauth.vendor.io/oauth
stringData: { client-secret: hunter2 }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: login }
spec:
  configs:
    - oauth2:
        oidcAuthorizationCode:
          issuerUrl: http://127.0.0.1:1
          clientId: shop
          clientSecretRef: { name: oauth, namespace: gw-system }
          appUrl: https://shop.example
          callbackPath: /callback
---
apiVersion: gateway.vendor.io/v1
kind: RouteOption
metadata: { name: slow }
spec: { options: { timeout: 50s } }
---
apiVersion: gateway.vendor.io/v1
kind: RouteTable
metadata: { name: books }
spec:
  routes:
    - matchers: [{ prefix: /books/a }]
      routeAction: { single: { upstream: { name: echo } } }
    - matchers: [{ prefix: /books/b }]
      routeAction: { single: { upstream: { name: echo } } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: plain }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /books }]
        delegateAction: { ref: { name: books, namespace: gw-system } }
      - name: echo
        matchers: [{ prefix: /echo }]
        routeAction: { single: { upstream: { name: echo } } }
        optionsConfigRefs: { delegateOptions: [{ name: slow, namespace: gw-system }] }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: protected }
spec:
  sslConfig: { secretRef: { name: tls, namespace: gw-system } }
  virtualHost:
    domains: ['*']
    options: { extauth: { configRef: { name: login, namespace: gw-system } } }
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: more } } }
`;
const MISSPELT: readonly (readonly [string, string])[] = [
  ['ref: { name: books,', 'ref: { name: boks,'],
  [
    '        routeAction: { single: { upstream: { name: echo',
    '        routeAction: { single: { upstream: { name: ecko',
  ],
  ['delegateOptions: [{ name: slow', 'delegateOptions: [{ name: slo'],
  ['clientSecretRef: { name: oauth', 'clientSecretRef: { name: oath'],
  ['configRef: { name: login', 'configRef: { name: logn'],
];
const written = (changes: readonly (readonly [string, string])[], resources = RESOURCES) =>
  changes.reduce((text, [from, to]) => {
    expect(text).to.contain(from);
    return text.replace(from, to);
  }, resources);
const without = (name: string, resources = RESOURCES) =>
  resources
    .split('---\n')
    .filter((one) => !one.includes(`metadata: { name: ${name} }`))
    .join('---\n');

describe('predictServed', () => {
  let directory: string;
  let controlPlane: ControlPlane;
  let admin: AdminServer;
  let server: string;
  let handOver: (change: SourceChange) => void;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'cli-keep-'));
    const log = createLoggers({ destination: { write: () => {} } });
    const context = createContext({ log, secrets: { get: (ref) => controlPlane.state?.secrets.get(ref) } });
    const source = {
      name: 'steps',
      start: async (onChange: typeof handOver) => void (handOver = onChange),
      close: async () => {},
    };
    controlPlane = createControlPlane({ source, log, certificateFiles: false });
    await controlPlane.start();
    const { metrics } = context;
    const options = { state: () => controlPlane.state, loggers: log, metrics, version: '0', components: () => [] };
    admin = createControlAdmin(options);
    server = `http://127.0.0.1:${(await admin.listen(0)).port}`;
  });
  afterEach(async () => {
    await admin.close();
    await controlPlane.close();
    rmSync(directory, { recursive: true });
  });

  /** Writes the directory without applying it. */
  const write = (text: string) => writeFileSync(join(directory, 'all.yaml'), text);
  /** Has the gateway serve each text, one after the other. */
  async function serve(...texts: readonly string[]): Promise<void> {
    for (const text of texts) {
      write(text);
      const files = directorySource(directory, { watch: false });
      await files.start(handOver);
      await files.close();
    }
  }
  const diff = async (...flags: string[]) => call(['diff', directory, '--server', server, ...flags]);
  /** Compares the differences that the command expects with those that the gateway makes, and returns its output. */
  async function expectTrue(text: string): Promise<string> {
    write(text);
    const { stdout } = await diff();
    const planned = (JSON.parse((await diff('-o', 'json')).stdout) as { proxies: ProxyDiff[] }).proxies;
    const before = [...controlPlane.state!.snapshots.values()];
    await serve(text);
    const made = compareServed(before, [...controlPlane.state!.snapshots.values()]);
    const shown = (diffs: readonly ProxyDiff[]) => partsOf(diffs).map(({ change, name }) => `${change} ${name}`);
    expect(shown(planned)).to.deep.equal(shown(made));
    expect((await diff()).stdout).to.match(/^No differences\.\n/);
    return stdout;
  }

  it('finds no differences in what is served already', async () => {
    await serve(RESOURCES);
    expect(await diff()).to.deep.equal({ code: 0, stdout: 'No differences.\n', stderr: '' });
  });

  it('finds none if broken references keep their last good versions', async () => {
    await serve(RESOURCES, written(MISSPELT));
    const { code, stdout } = await diff();
    expect(code).to.equal(1);
    expect(stdout).to.match(/^No differences\.\n/);
    expect(stdout).to.contain('echo?); the route keeps its last good destination. Route Name: echo\n');
    expect(stdout).to.contain('books?); the last good route table gw-system.books stays in use\n');
    expect(stdout).to.contain('slow?); its last good options stay in force\n');
    expect(stdout).to.contain('oauth?); the AuthConfig keeps its last good version\n');
    expect(stdout).to.contain('login?); the VirtualService keeps its last good version\n');
    expect(stdout).to.contain('Rejected resources keep their last good version');
  });

  it('finds none after an upstream was deleted', async () => {
    await serve(RESOURCES, without('more'));
    const { code, stdout } = await diff();
    expect(code).to.equal(1);
    expect(stdout).to.match(/^No differences\.\n/);
    expect(stdout).to.contain('the route has no last good destination').and.contain('1 error, 0 warnings.\n');
  });

  it('finds none if the last good certificate stays in use', async () => {
    await serve(RESOURCES, written([['secretRef: { name: tls', 'secretRef: { name: tsl']]));
    const { stdout } = await diff();
    expect(stdout).to.match(/^No differences\.\n/);
    expect(stdout).to.contain('; the last good sslConfig stays in use\n');
  });

  it('shows one difference for one change, beside last good versions', async () => {
    await serve(RESOURCES, written(MISSPELT));
    expect(await expectTrue(written([...MISSPELT, ['port: 81', 'port: 82']]))).to.match(
      /^proxy gateway-proxy\n~ upstream more_gw-system\n(?: .*\n)+\n1 difference: 0 added, 0 removed, 1 changed\.\n/,
    );
    const added =
      '    routes:\n      - matchers: [{ exact: /new }]\n        directResponseAction: { status: 200 }\n      - matchers: [{ prefix: /books }]';
    const more = written([
      ...MISSPELT,
      ['port: 81', 'port: 82'],
      ['    routes:\n      - matchers: [{ prefix: /books }]', added],
    ]);
    expect(await expectTrue(more))
      .to.not.contain('removed, 1 changed')
      .and.not.contain('8443');
  });

  it('replaces a last good destination whose access changes', async () => {
    await serve(RESOURCES, written(MISSPELT));
    const refs = '        optionsConfigRefs: { delegateOptions: [{ name: slo';
    const stdout = await expectTrue(
      written([...MISSPELT, [refs, `        options: { rbac: { disable: true } }\n${refs}`]]),
    );
    expect(stdout).to.contain(
      'action: forward to echo_gw-system -> 503 "no healthy upstream" instead of its destination',
    );
    const [snapshot] = controlPlane.state!.snapshots.values();
    expect(JSON.stringify(snapshot)).to.contain('"type":"replacement"');
  });

  it('removes what is kept together with its virtual service or upstream', async () => {
    await serve(RESOURCES, written(MISSPELT));
    expect(await expectTrue(without('protected', written(MISSPELT)))).to.contain('- listener listener-::-8443\n');
    await serve(RESOURCES, written(MISSPELT));
    const stdout = await expectTrue(without('echo', written(MISSPELT)));
    expect(stdout).to.contain('- upstream echo_gw-system\n').and.contain('the route has no last good destination');
  });

  it('reports which broken references have no last good version', async () => {
    await serve(written(MISSPELT));
    const { stdout } = await diff();
    expect(stdout).to.match(/^No differences\.\n/);
    for (const none of [
      'the route has no last good destination. Route Name: echo',
      'there is no last good route table',
      'there are no last good options',
      'the AuthConfig has no last good version',
      'the VirtualService has no last good version',
    ])
      expect(stdout).to.contain(`; ${none}\n`);
    expect(stdout).to.match(/errors, 0 warnings\.\n$/);
  });
});
