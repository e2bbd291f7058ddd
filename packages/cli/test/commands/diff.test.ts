import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadDirectory } from '@edge-gateway/core';
import { expect } from 'chai';
import { GATEWAYCTL } from '../../../../test/parts/programs.ts';
import { answer } from '../support/answering-server.ts';
import { call } from '../support/captured-io.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const resources = (prefix: string, extra = '') => `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 80 }] } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: ${prefix} }]
        routeAction: { single: { upstream: { name: echo } } }
        options:
          headerManipulation:
            requestHeadersToAdd: [{ header: { key: authorization, value: hunter2 } }]
${extra}`;
const MORE = `---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: more }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 81 }] } }
`;

describe('diff', () => {
  let cwd: string;
  before(() => {
    cwd = temporaryDirectory();
    for (const [name, text] of [
      ['old', resources('/a')],
      ['new', resources('/b', MORE)],
      ['empty', ''],
    ] as const) {
      mkdirSync(join(cwd, name));
      writeFileSync(join(cwd, name, 'all.yaml'), text);
    }
  });
  const diff = (...argv: string[]) => call(['diff', ...argv], { cwd });

  it('reports no differences', async () => {
    expect(await diff('old', '--against', 'old', '--exit-code')).to.deep.equal({
      code: 0,
      stdout: 'No differences.\n',
      stderr: '',
    });
  });

  it('marks what is new with +, what is gone with -, and what changes with ~ and both values', async () => {
    const { code, stdout } = await diff('new', '--against', 'old');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^proxy gateway-proxy\n/);
    expect(stdout).to.contain(
      '\n~ route listener-::-8080/gw-system.shop-route-0\n    matchers[0].prefix: "/a" -> "/b"\n',
    );
    expect(stdout).to.contain('\n+ upstream more_gw-system\n');
    expect(stdout).to.match(/\n2 differences: 1 added, 0 removed, 1 changed\.\n$/);
    expect((await diff('old', '--against', 'new')).stdout).to.contain('\n- upstream more_gw-system\n');
  });

  it('exits 1 for differences with --exit-code only, and prints JSON', async () => {
    const { code, stdout } = await diff('new', '--against', 'old', '--exit-code', '-o', 'json');
    expect(code).to.equal(1);
    const answered = JSON.parse(stdout) as {
      differences: number;
      proxies: { proxy: string; diff: { routes: unknown[] } }[];
    };
    expect(answered.differences).to.equal(2);
    expect(answered.proxies[0]!.diff.routes).to.have.length(1);
  });

  it('never shows a secret value', async () => {
    const { stdout } = await diff('empty', '--against', 'old', '-o', 'json');
    expect(stdout).to.not.contain('hunter2');
    expect((await diff('old', '--against', 'empty')).stdout).to.not.contain('hunter2');
  });

  it('compares with a running gateway, on the ports that it was started with', async () => {
    const { snapshots } = await loadDirectory(join(cwd, 'old'), { defaultGateways: { httpPort: 9999 } });
    const served = JSON.stringify({ data: { 'gw-system~gateway-proxy': snapshots.get('gateway-proxy') } });
    const server = await answer({ '/snapshots/xds': served.replace('hunter2', '<redacted>') });
    expect((await diff('old', '--server', server.url)).stdout).to.equal('No differences.\n');
    expect((await diff('new', '--server', server.url)).stdout).to.contain('2 differences');
    await server.close();
  });

  it('shows everything as new when the gateway serves nothing yet', async () => {
    const server = await answer({ '/snapshots/xds': { data: {} } });
    const { stdout } = await diff('old', '--server', server.url);
    await server.close();
    expect(stdout).to.contain('+ listener listener-::-8080\n').and.contain('+ virtual host');
  });

  describe('of a directory with errors', () => {
    const shop = resources('/a');
    const broken = shop.replace('headerManipulation:', 'headerManipulaton:');
    const directory = (name: string, text: string, file = 'all.yaml') => {
      mkdirSync(join(cwd, name), { recursive: true });
      writeFileSync(join(cwd, name, file), text);
    };
    const serving = async (name: string, neverGood: readonly object[] = []) => {
      const state = await loadDirectory(join(cwd, name));
      const listed = [...state.resources.values()].map(({ apiVersion, kind, metadata, spec }) => {
        const hidden = JSON.parse(JSON.stringify(spec).replaceAll('hunter2', '<redacted>')) as object;
        const body = kind === 'Secret' ? { data: { token: '<redacted>' } } : { spec: hidden };
        return { apiVersion, kind, metadata, ...body };
      });
      return answer({
        '/snapshots/xds': { data: { 'gw-system~gateway-proxy': state.snapshots.get('gateway-proxy') } },
        '/snapshots/input': { data: [...listed, ...neverGood] },
        '/problems': { problems: [] },
        '/snapshots/edge': { data: Object.groupBy(listed, ({ kind }) => kind) },
      });
    };

    it('prints the errors, keeps what is rejected, and exits 1', async () => {
      directory('broken', broken);
      const { code, stdout } = await diff('broken', '--against', 'old');
      expect(code).to.equal(1);
      expect(stdout).to.match(/^No differences\.\n/);
      expect(stdout).to.match(/broken\/all\.yaml:16:11 .*headerManipulaton.*\n1 error, 0 warnings\./);
      expect(stdout).to.not.contain('hunter2');
    });

    it('reports what stays in use: a rejected resource, the destination of a route, or nothing', async () => {
      const misspelt = shop.replace('upstream: { name: echo }', 'upstream: { name: ehco }');
      const added = '      - { matchers: [{ prefix: /z }], routeAction: { single: { upstream: { name: zzz } } } }\n';
      for (const [name, text, end] of [
        ['rejected', broken, ' Rejected resources keep their last good version, as in a running gateway.'],
        ['kept', misspelt, ' The route keeps its last good destination, as in a running gateway.'],
        ['new', shop + added, ''],
        ['mixed', misspelt + added, ' 1 of 2 broken references keeps what was last good, as in a running gateway.'],
      ] as const) {
        directory(`says-${name}`, text);
        const { code, stdout } = await diff(`says-${name}`, '--against', 'old');
        expect(code).to.equal(1);
        expect(stdout.split('\n').at(-2), name).to.equal(
          `${name === 'mixed' ? '2 errors' : '1 error'}, 0 warnings.${end}`,
        );
        if (name === 'rejected') continue;
        expect(stdout.includes('; the route keeps its last good destination'), name).to.equal(name !== 'new');
        expect(
          stdout.includes('zzz } not found; the route has no last good destination. Route Name: <unnamed-1>'),
          name,
        ).to.equal(name !== 'kept');
      }
    });

    it('shows the other changes of such a directory, also as JSON', async () => {
      directory('broken-more', `${broken}${MORE}`);
      const { code, stdout } = await diff('broken-more', '--against', 'old', '-o', 'json');
      expect(code).to.equal(1);
      const told = JSON.parse(stdout) as { problems: { line: number }[] };
      expect(told).to.include({ differences: 1, errors: 1, warnings: 0 });
      expect(told.problems[0]!.line).to.equal(16);
    });

    it('keeps what a running gateway serves', async () => {
      directory('broken', broken);
      const server = await serving('old');
      const { code, stdout } = await diff('broken', '--server', server.url);
      await server.close();
      expect(code).to.equal(1);
      expect(stdout).to.match(/^No differences\.\n[^]*headerManipulaton/);
    });

    it('keeps the destination that a running gateway kept after a reference was misspelt', async () => {
      directory('misspelt', shop.replace('upstream: { name: echo }', 'upstream: { name: ehco }'));
      const before = await loadDirectory(join(cwd, 'old'));
      const after = await loadDirectory(join(cwd, 'misspelt'));
      const listed = [...after.resources.values()].map(({ apiVersion, kind, metadata, spec }) => {
        return { apiVersion, kind, metadata, spec };
      });
      const server = await answer({
        '/snapshots/xds': { data: { 'gw-system~gateway-proxy': before.snapshots.get('gateway-proxy') } },
        '/snapshots/input': { data: listed },
        '/problems': { problems: [] },
        '/snapshots/edge': { data: Object.groupBy(listed, ({ kind }) => kind) },
      });
      const { code, stdout } = await diff('misspelt', '--server', server.url);
      directory(
        'misspelt-gone',
        shop.replace('upstream: { name: echo }', 'upstream: { name: ehco }').replace('name: echo', 'name: other'),
      );
      const gone = await diff('misspelt-gone', '--server', server.url);
      await server.close();
      expect(code).to.equal(1);
      expect(stdout).to.match(/^No differences\.\n[^]*did you mean echo/);
      expect(stdout).to.contain('(did you mean echo?); the route keeps its last good destination. Route Name');
      expect(stdout).to.contain('1 error, 0 warnings. The route keeps its last good destination');
      expect(gone.stdout).to.contain('the route has no last good destination').and.not.contain('keeps');
      expect(gone.stdout).to.contain('~ route');
    });

    it('plans nothing from a resource that was never good, which a gateway lists as written', async () => {
      directory('never-good', `${shop}${MORE.replace('static: {', 'static: "<redacted>", x: {')}`);
      const metadata = { name: 'more', namespace: 'gw-system' };
      const spec = { static: { hosts: [{ addr: '127.0.0.1', port: 1 }] } };
      const server = await serving('old', [{ apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata, spec }]);
      const { code, stdout } = await diff('never-good', '--server', server.url);
      await server.close();
      expect(code).to.equal(1);
      expect(stdout).to.match(/^No differences\.\n/);
    });

    it('writes no log line', () => {
      directory('broken', broken);
      const argv = [...GATEWAYCTL, 'diff', 'broken', '--against', 'old'];
      const { status, stderr } = spawnSync(process.execPath, argv, { cwd, encoding: 'utf8' });
      expect({ status, stderr }).to.deep.equal({ status: 1, stderr: '' });
    });

    it('keeps what was in a file that cannot be read', async () => {
      directory('unreadable', 'kind: [');
      directory('unreadable', MORE, 'more.yaml');
      const server = await serving('old');
      for (const flags of [
        ['--against', 'old'],
        ['--server', server.url],
      ]) {
        const { code, stdout } = await diff('unreadable', ...flags);
        expect(code).to.equal(1);
        expect(stdout).to.match(/\n\+ upstream more_gw-system\n\n1 difference: 1 added, 0 removed, 0 changed\.\n/);
        expect(stdout).to.contain('unreadable/all.yaml');
      }
      await server.close();
    });

    it('serves secrets as the directory has them, for a gateway does not show them', async () => {
      const secret =
        'apiVersion: v1\nkind: Secret\nmetadata: { name: token }\ntype: Opaque\nstringData: { token: hunter2 }\n---\n';
      directory('with-secret', secret + shop);
      directory('with-secret-broken', secret + broken);
      const server = await serving('with-secret');
      const { stdout } = await diff('with-secret-broken', '--server', server.url);
      await server.close();
      expect(stdout)
        .to.match(/^No differences\.\n/)
        .and.not.contain('hunter2');
    });

    it('removes what the directory does not have', async () => {
      directory('broken-other', broken.replace(/^apiVersion: gw[^]*?---\n/, ''));
      const { stdout } = await diff('broken-other', '--against', 'old');
      expect(stdout).to.contain('- upstream echo_gw-system');
    });
  });

  it('rejects missing directories on either side with exit status 2', async () => {
    expect(await diff('none', '--against', 'old')).to.include({
      code: 2,
      stderr: 'Error: none: no such file or directory\n',
    });
    expect(await diff('old', '--against', 'none')).to.include({ code: 2 });
    expect(await diff('old', '--server', 'http://127.0.0.1:1')).to.include({ code: 1 });
  });
});
