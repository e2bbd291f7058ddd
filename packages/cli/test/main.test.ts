import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { answer, at, recordedAnswers, type AnsweringServer } from './support/answering-server.ts';
import { start } from './support/process.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';

/** Prints every module that is loaded, also those of Node.js itself. */
const LIST_MODULES = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
process.on('exit', () => console.error([...loaded, ...process.moduleLoadList].join('\\n')));
`;

/** Packages of this workspace and of others that `validate` of plain resources must not load. */
const UNNEEDED = [
  /packages\/(?:extauth|graphql|kubernetes|oidc|rate-limit|routing|xds)\//,
  /packages\/core\/src\/envoy\//,
  /node_modules\/(?:@grpc|@opentelemetry|ajv|graphql|jose|ora|prom-client|string-width|undici)\//,
  /internal\/deps\/undici/,
];

describe('gatewayctl as a process', () => {
  let server: AnsweringServer;
  before(async () => {
    const big = Array.from({ length: 20_000 }, (_, i) => ({
      kind: 'Upstream',
      metadata: { name: `upstream-${i}`, namespace: 'gw-system' },
    }));
    server = await answer({
      ...recordedAnswers(),
      '/snapshots/edge': { data: [] },
      '/config_dump': JSON.stringify(big),
    });
  });
  after(() => server.close());

  it('prints to standard output and exits 0', async () => {
    const { code, stdout, stderr } = await start(['get', 'upstreams', '-o', 'name', ...at(server)]).ended;
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.contain('upstream.gw.vendor.io/carts\n');
  });

  it('exits 1 when the work failed and 2 when the call was wrong', async () => {
    expect((await start(['check', '--server', 'http://127.0.0.1:1']).ended).code).to.equal(1);
    const wrong = await start(['check', '--bogus']).ended;
    expect(wrong).to.deep.equal({ code: 2, stdout: '', stderr: "Error: unknown option '--bogus'\n" });
  });

  it('names the version of Node.js that it needs', async () => {
    const older = `data:text/javascript,Object.defineProperty(process,'version',{value:'v20.19.0'})`;
    const main = (path: string) => fileURLToPath(new URL(path, import.meta.url));
    for (const [name, file] of [
      ['gatewayctl', '../src/main.ts'],
      ['edge-gateway', '../../../apps/gateway/src/main.ts'],
    ] as const) {
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', older, main(file), '--version'], {
        encoding: 'utf8',
        env: { ...process.env, NODE_OPTIONS: '' },
      });
      const message = `${name} needs Node.js 22.18 or later, this is v20.19.0\n`;
      expect({ status, stdout, stderr }).to.deep.equal({ status: 1, stdout: '', stderr: message });
    }
  });

  it('validates a directory without loading what other commands need', () => {
    const directory = temporaryDirectory();
    const upstream =
      'kind: Upstream\nmetadata: { name: a }\nspec: { static: { hosts: [{ addr: 127.0.0.1, port: 80 }] } }\n';
    writeFileSync(join(directory, 'a.yaml'), `apiVersion: gw.vendor.io/v1\n${upstream}`);
    const hook = `data:text/javascript,${encodeURIComponent(LIST_MODULES)}`;
    const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
    const argv = ['--conditions=source', '--import', hook, main, 'validate', directory];
    const { stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
    expect(stdout).to.equal('1 resource, 0 errors, 0 warnings\n');
    const modules = stderr.split('\n');
    expect(modules.some((each) => each.endsWith('/core/src/index.ts'))).to.equal(true);
    for (const unneeded of UNNEEDED) expect(modules.filter((each) => unneeded.test(each))).to.deep.equal([]);
  });

  it('ends silently if its reader disconnects', async () => {
    const { child, ended } = start(['proxy', 'dump', ...at(server)]);
    child.stdout.once('data', () => child.stdout.destroy());
    const { code, stderr } = await ended;
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  });

  it('prints a large result completely into a pipe', async () => {
    const { stdout } = await start(['proxy', 'dump', ...at(server)]).ended;
    expect(JSON.parse(stdout)).to.have.length(20_000);
  });

  it('reports an unreadable directory in one line', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'cli-forbidden-'));
    chmodSync(directory, 0);
    // The superuser may read everything, so the program runs as nobody then.
    const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const { code, stdout, stderr } = await start(['validate', directory], asNobody).ended;
    rmSync(directory, { recursive: true });
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 2,
      stdout: '',
      stderr: `Error: ${directory}: permission denied\n`,
    });
  });
});
