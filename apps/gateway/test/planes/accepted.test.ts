import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { GatewayProcess, until } from '../gateway-process.ts';
import { direct, forwarding, upstream } from '../workers/resources.ts';
import { proxiesOf, startControlPlane, startProxy } from './planes.ts';

const INVALID = direct('two').replace('status', 'statsu');

describe('a restart while a resource is invalid', () => {
  let dir: string;
  let gateway: GatewayProcess;
  let proxy: GatewayProcess;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'state-'));
    gateway = new GatewayProcess();
    proxy = new GatewayProcess();
  });
  afterEach(async () => {
    await proxy.close();
    await gateway.close();
    rmSync(dir, { recursive: true });
  });

  const problemsOf = async () =>
    ((await (await fetch(`${gateway.stats}/problems`)).json()) as { problems: { message: string; name?: string }[] })
      .problems;
  const kill = async () => {
    gateway.child.kill('SIGKILL');
    await gateway.ended();
  };
  /** A file that is being written counts only once it has its name. */
  const saved = (text: string) =>
    readdirSync(dir).some((name) => !name.endsWith('.tmp') && readFileSync(join(dir, name), 'utf8').includes(text));

  describe('of a control plane', () => {
    let port: string;
    const start = async (...flags: string[]) => {
      await startControlPlane(gateway, '--state-dir', dir, ...flags);
      port = String(gateway.ready.xdsPort);
    };
    const restart = async (change = () => {}) => {
      await kill();
      change();
      await start('--xds-port', port);
      await until(async () => (await proxiesOf(gateway))[0]?.current, 'the proxy is current');
    };
    const body = async () => {
      const response = await fetch(proxy.url);
      return `${response.status} ${await response.text()}`;
    };

    it('changes nothing that proxies serve, until the resource is fixed or deleted', async () => {
      gateway.write('a.yaml', direct('one'));
      await start();
      await startProxy(proxy, [gateway.ready.xdsPort]);
      await until(() => saved('"one"'), 'the file');
      gateway.write('a.yaml', INVALID);
      await until(async () => (await problemsOf()).length > 0, 'the problem');
      const version = (await proxiesOf(gateway))[0]!.version;
      const answers = new Map<string, number>();
      const over = new AbortController();
      const requests = (async () => {
        while (!over.signal.aborted) {
          const answer = await body().catch((error: Error) => error.message);
          answers.set(answer, (answers.get(answer) ?? 0) + 1);
          // Leaves the machine to the processes that restart.
          await wait(10);
        }
      })();
      await restart();
      expect((await proxiesOf(gateway))[0]!.version).to.equal(version);
      const [problem] = await problemsOf();
      expect(problem).to.include({ name: 'direct' });
      await until(() => gateway.errors.includes('accepted versions of resources restored'), 'the log entry');
      expect(gateway.errors).to.not.contain('no last good version');
      // A file with another name, and one that cannot be read at all.
      await restart(() => renameSync(join(gateway.dir, 'a.yaml'), join(gateway.dir, 'b.yaml')));
      // A second after the start.
      await until(() => saved('b.yaml'), 'the new name');
      await restart(() => gateway.write('b.yaml', 'kind: ['));
      over.abort();
      await requests;
      expect([...answers.keys()]).to.deep.equal(['200 one']);
      gateway.write('b.yaml', direct('three'));
      await until(async () => (await body()) === '200 three', 'the fixed version');
      expect(await problemsOf()).to.deep.equal([]);
      rmSync(join(gateway.dir, 'b.yaml'));
      await until(async () => !(await body().catch(() => 'closed')).startsWith('200'), 'nothing is served');
      await kill();
      gateway.write('b.yaml', INVALID);
      await start('--xds-port', port);
      await until(() => gateway.errors.includes('no last good version of invalid resources and routes'), 'the warning');
    });

    it('keeps the last good destination of a route whose reference is broken', async () => {
      gateway.write('a.yaml', direct('one'));
      const to = (name: string) => forwarding('{}', 'fwd', "['fwd.example']").replaceAll('name: echo', `name: ${name}`);
      expect(to('other')).to.contain('other');
      gateway.write('b.yaml', to('echo'));
      gateway.write('c.yaml', upstream(1));
      await start();
      await startProxy(proxy, [gateway.ready.xdsPort]);
      await until(() => saved('"fwd"'), 'the file');
      gateway.write('b.yaml', to('other'));
      const message = 'the route keeps its last good destination';
      await until(async () => (await problemsOf()).some((each) => each.message.includes(message)), 'the problem');
      const { version } = (await proxiesOf(gateway))[0]!;
      await restart();
      expect((await problemsOf()).map((each) => each.message).join()).to.contain(message);
      expect((await proxiesOf(gateway))[0]!.version).to.equal(version);
    });

    it('ignores a damaged file, and one that other users can write', async () => {
      gateway.write('a.yaml', direct('one'));
      await start();
      await startProxy(proxy, [gateway.ready.xdsPort]);
      await until(() => saved('"one"'), 'the file');
      gateway.write('a.yaml', INVALID);
      await until(async () => (await problemsOf()).length > 0, 'the problem');
      await kill();
      const file = join(dir, readdirSync(dir)[0]!);
      const text = readFileSync(file, 'utf8');
      writeFileSync(file, text.replace('"one"', '"two"'));
      await start('--xds-port', port);
      const ignored = (why: string) => new RegExp(`${why}.*file of accepted versions ignored`).test(gateway.errors);
      await until(() => ignored('is damaged: the digest of line 2 does not match'), 'the error');
      await kill();
      writeFileSync(file, text);
      chmodSync(file, 0o666);
      await start('--xds-port', port);
      await until(() => ignored(String.raw`can be written by other users \(mode 0666\)`), 'the error');
    });

    it('runs without a directory that can be written', async () => {
      gateway.write('a.yaml', direct('one'));
      await startControlPlane(gateway, '--state-dir', '/proc/missing');
      await startProxy(proxy, [gateway.ready.xdsPort]);
      expect(await body()).to.equal('200 one');
      await until(() => gateway.errors.includes('failed to save accepted versions'), 'the warning');
      gateway.write('a.yaml', direct('two'));
      await until(async () => (await body()) === '200 two', 'the change');
      gateway.child.kill('SIGTERM');
      expect(await gateway.ended()).to.equal(0);
    });
  });

  for (const workers of ['1', '2'])
    it(`of a gateway in one process serves the last good version, with --workers ${workers}`, async () => {
      gateway.write('a.yaml', direct('one'));
      await gateway.start('--state-dir', dir, '--workers', workers);
      await until(() => saved('"one"'), 'the file');
      gateway.write('a.yaml', INVALID);
      await until(async () => (await problemsOf()).length > 0, 'the problem');
      await kill();
      await gateway.start('--state-dir', dir, '--workers', workers);
      expect(await (await fetch(gateway.url)).text()).to.equal('one');
      expect((await problemsOf())[0]).to.include({ name: 'direct' });
      await kill();
      await gateway.start('--state-dir', 'none');
      expect(gateway.ready.listeners).to.deep.equal([]);
    });
});
