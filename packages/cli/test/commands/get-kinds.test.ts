import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KINDS } from '@edge-gateway/core';
import { expect } from 'chai';
import { parse } from 'yaml';
import { OUTPUTS, renderTables } from '../../src/output/formats.ts';
import { VIEWS } from '../../src/tables/views.ts';
import { answer } from '../support/answering-server.ts';
import { call } from '../support/captured-io.ts';
import { expectFixture } from '../support/fixtures.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const RESOURCES = `apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: public }
spec:
  bindPort: 8080
  httpGateway: { virtualServiceSelector: { team: shop } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualHostOption
metadata: { name: shared }
spec: { options: { cors: { allowOrigin: ['https://a.example'] } } }
---
apiVersion: gateway.vendor.io/v1
kind: RouteOption
metadata: { name: slow }
spec: { options: { timeout: 30s, prefixRewrite: /v2 } }
---
apiVersion: gateway.vendor.io/v1
kind: ListenerOption
metadata: { name: limits }
spec:
  targetRefs: [{ group: gateway.vendor.io, kind: Gateway, name: public }]
  options: { perConnectionBufferLimitBytes: 4096 }
---
apiVersion: gateway.vendor.io/v1
kind: HttpListenerOption
metadata: { name: health }
spec:
  targetRefs: [{ group: gateway.vendor.io, kind: Gateway, name: public }]
  options: { healthCheck: { path: /health } }
---
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default }
spec: { gw: { regexMaxProgramSize: 1024 } }
---
apiVersion: v1
kind: Secret
metadata: { name: keys }
type: Opaque
stringData: { first: MARKER, second: MARKER }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: texts }
data: { page: hello }
`;

const ROUTES = `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: routes }
spec:
  virtualHost:
    domains: [a.example]
    routes:
      - matchers: [{ prefix: /weights }]
        routeAction:
          multi:
            destinations:
              - { weight: 2, destination: { upstream: { name: a } } }
              - { weight: 1, destination: { upstream: { name: b } } }
      - { matchers: [{ prefix: /host }], redirectAction: { hostRedirect: new.example } }
      - { matchers: [{ prefix: /path }], redirectAction: { pathRedirect: /new } }
      - { matchers: [{ prefix: /prefix }], redirectAction: { prefixRewrite: /new } }
      - { matchers: [{ prefix: /tls }], redirectAction: { httpsRedirect: true, portRedirect: 8443 } }
      - { matchers: [{ prefix: /all }], redirectAction: { httpsRedirect: true, hostRedirect: b.example, pathRedirect: /x } }
`;

const INVALID_ACTIONS = `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: rejected }
spec:
  virtualHost:
    routes:
      - { matchers: [{ prefix: /a }], directResponse: { status: 200 } }
      - { matchers: [{ prefix: /b }], routeAction: { single: { upstrem: { name: a } } } }
      - { matchers: [{ prefix: /c }], delegateAction: { selector: { labels: { a: b } } } }
      - { matchers: [{ prefix: /d }], directResponseAction: { status: 204 } }
`;

const BODY = `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: body }
spec:
  virtualHost:
    routes: [{ directResponseAction: { status: 200, body: "one\\n  two\\n" } }]
`;

const REJECTED = `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: rejected }
spec:
  virtualHost:
    domains: [bad.example]
    routes: [{ matchers: [{ prefix: /a }], directResponseAction: { status: 200 }, tyop: 1 }]
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: rejected }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 80 }] }, tyop: 1 }
`;

const REJECTED_SECRET = `apiVersion: v1
kind: Secret
metadata: { name: keys, namespace: gw-system }
type: Opaque
stringData: { first: MARKER }
data: { second: '%MARKER' }
`;

describe('get of every kind', () => {
  let cwd: string;
  before(() => (cwd = temporaryDirectory()));
  const get = (text: string, ...argv: string[]) => {
    writeFileSync(join(cwd, 'all.yaml'), text);
    return call(['get', ...argv, '--config', '.'], { cwd });
  };

  it('exists', () => {
    expect(VIEWS.map(({ kind }) => kind as string).sort()).to.deep.equal([...KINDS.keys()].sort());
  });

  it('shows the status of every kind in its table', () => {
    const status = { statuses: { 'gw-system': { state: 'Rejected', reason: 'bad', reportedBy: 'gateway' } } };
    for (const { kind, tables } of VIEWS) {
      const object = { apiVersion: 'v1', kind, metadata: { name: 'a', namespace: 'gw-system' }, spec: {}, status };
      for (const { columns, rows } of tables([object], [object]))
        expect(rows[0]![columns.indexOf('Status')]!.split('\n')[0], kind).to.equal('Rejected');
    }
  });

  it('prints a table', async () => {
    let text = '';
    const options = ['virtualhostoptions', 'routeoptions', 'lisopts', 'hlisopts'];
    for (const kind of ['gateways', ...options, 'settings', 'secrets', 'configmaps']) {
      const { code, stdout, stderr } = await get(RESOURCES, kind);
      expect({ code, stderr }, kind).to.deep.equal({ code: 0, stderr: '' });
      text += `${kind}\n${stdout}`;
    }
    expectFixture('get-kinds.txt', text);
  });

  it('prints a header for every kind without resources', async () => {
    for (const { kind, tables } of VIEWS)
      expect(renderTables(tables([], []), Infinity), kind).to.match(/^\+-.+\+\n\| .+ \|\n\+-.+\+$/);
    const { code, stdout, stderr } = await get(ROUTES, 'rlc');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: 'No rate limit configs here.\n' });
    expect(stdout.split('\n')[1]).to.equal('| RATELIMITCONFIG | DESCRIPTORS | ACTIONS | STATUS |');
  });

  it('shows the body of a direct response without line breaks at its end', async () => {
    const { stdout } = await get(BODY, 'vs', 'route', 'body');
    const cells = stdout.split('\n').flatMap((line) => (line.startsWith('|') ? [line.split('|').at(-2)] : []));
    expect(cells).to.deep.equal([' BODY  ', ' one   ', '   two ']);
  });

  it('shows the status of a RateLimitConfig as a state and a message', async () => {
    const text = `apiVersion: ratelimit.vendor.io/v1alpha1
kind: RateLimitConfig
metadata: { name: limits, namespace: gw-system }
spec: { raw: { descriptors: [{ key: a, rateLimit: { requestsPerUnit: 1, unit: FORTNIGHT } }] } }
`;
    expect((await get(text, 'rlc')).stdout).to.contain('| Rejected |');
    for (const output of ['yaml', 'kube-yaml']) {
      const { status } = parse((await get(text, 'rlc', '-o', output)).stdout) as { status: Record<string, string> };
      expect(status['state']).to.equal('REJECTED');
      expect(status['message']).to.contain('spec.raw.descriptors[0].rateLimit.unit: FORTNIGHT is not allowed');
      expect(Object.keys(status)).to.have.length(2);
    }
  });

  it('shows no value of a Secret in any form', async () => {
    for (const output of OUTPUTS) {
      const { code, stdout } = await get(RESOURCES, 'secrets', '-o', output);
      expect(code).to.equal(0);
      expect(stdout, output)
        .to.contain('keys')
        .and.not.match(/MARKER|TUFSS0VS/);
    }
    const { stdout } = await get(RESOURCES, 'secret', 'keys', '-o', 'kube-yaml');
    expect(stdout).to.contain('type: Opaque\n').and.contain('first: <redacted>').and.not.contain('spec');
  });

  it('shows no value of a rejected Secret in any form, neither of a directory nor of a running gateway', async () => {
    writeFileSync(join(cwd, 'all.yaml'), REJECTED_SECRET);
    const written = parse(REJECTED_SECRET) as object;
    const server = await answer({ '/snapshots/input': { data: [written] } });
    const sources = { directory: ['--config', '.'], gateway: ['--server', server.url] };
    try {
      for (const [name, source] of Object.entries(sources)) {
        for (const output of OUTPUTS) {
          const { code, stdout } = await call(['get', 'secrets', '-o', output, ...source], { cwd });
          expect(code, name).to.equal(0);
          expect(stdout, `${name} ${output}`)
            .to.contain('keys')
            .and.not.match(/MARKER|TUFSS0VS/);
        }
        const { stdout } = await call(['get', 'secret', 'keys', '-o', 'yaml', ...source], { cwd });
        const shown = parse(stdout) as object;
        expect(shown, name).to.deep.include({ stringData: { first: '<redacted>' }, data: { second: '<redacted>' } });
      }
    } finally {
      await server.close();
    }
  });

  it('shows weights and redirects', async () => {
    const { stdout } = await get(ROUTES, 'vs');
    expect(stdout.match(/\/\w+ -> [^|]*/g)?.map((cell) => cell.trim())).to.deep.equal([
      '/weights -> 2 destinations: gw-system.a (upstream) 66.7 %, gw-system.b (upstream) 33.3 %',
      '/host -> new.example',
      '/path -> redirect: /new',
      '/prefix -> redirect: /new (prefix)',
      '/tls -> redirect: https://<host>:8443',
      '/all -> redirect: https://b.example/x',
    ]);
  });

  it('shows rejected resources as they are written', async () => {
    const { stdout } = await get(REJECTED, 'vs');
    expect(stdout).to.contain('bad.example').and.contain('/a -> 200').and.contain('Rejected');
    expect((await get(REJECTED, 'us')).stdout)
      .to.contain('Static')
      .and.contain('127.0.0.1:80');
  });

  it('shows the reason of a rejected virtual service, and its invalid actions as they are written', async () => {
    const { stdout } = await get(INVALID_ACTIONS, 'vs');
    expect(stdout).to.match(/Rejected [^]*\| spec\.virtualHost\.routes\[0\]: route must specify an action/);
    expect(stdout.match(/\/\w+ ->[^|]*/g)?.map((cell) => cell.trim())).to.deep.equal([
      '/a -> { directResponse: { status: <redacted> } }',
      '/b -> { routeAction: { single: { upstrem: { name: <redacted> } } } }',
      '/c ->',
      '/d -> 204',
    ]);
  });

  it('shows no defaults of a resource of which a gateway shows only the name', async () => {
    const status = { statuses: { 'gw-system': { state: 2, reason: 'bad', reportedBy: 'gateway' } } };
    const metadata = { name: 'bad', namespace: 'gw-system' };
    const data = ['VirtualService', 'Upstream', 'UpstreamGroup', 'GraphQLApi', 'Gateway'].map((kind) => ({
      apiVersion: 'v1',
      kind,
      metadata,
      status,
    }));
    const server = await answer({ '/snapshots/input': { data } });
    for (const kind of ['vs', 'us', 'ug', 'gql', 'gw']) {
      const { stdout } = await call(['get', kind, '--server', server.url]);
      expect(stdout.split('\n')[3]!.replaceAll(/[| ]+/g, ' ').trim(), kind).to.equal('bad Rejected');
    }
    await server.close();
  });
});
