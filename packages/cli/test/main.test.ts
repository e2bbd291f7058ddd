import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { answer, at, recordedAnswers, type AnsweringServer } from './support/answering-server.ts';
import { start } from './support/process.ts';

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
