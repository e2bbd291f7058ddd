import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
// @ts-expect-error The scripts have no types.
import { bundlePrograms, removeOldFiles } from '../scripts/bundle.mjs';
import { ROOT } from './docs/workspace.ts';

const run = promisify(execFile);
const PROGRAMS = [{ dir: 'app', name: 'hello' }];
const DAY_MS = 24 * 3600 * 1000;

/** A small program with everything that bundling has to take care of. */
const FILES: Readonly<Record<string, string>> = {
  'pnpm-lock.yaml': '',
  'app/package.json':
    '{ "name": "app", "type": "module", "sideEffects": false, "dependencies": { "commander": "1.0.0" } }',
  'app/src/main.ts': `
    import { createServer } from 'node:http';
    import { greeting } from '@edge-gateway/greeting';
    import { inThread } from './in-thread.ts';
    import { later } from './later.ts';
    const [how] = process.argv.slice(2);
    if (how === 'throw') (await import('./broken.ts')).fail();
    const isFetchLoaded = process.moduleLoadList.some((name) => name.endsWith('undici/undici'));
    console.log(JSON.stringify({ greeting, later: later(), thread: await inThread(), server: typeof createServer, isFetchLoaded }));`,
  'app/src/later.ts': `
    import { createRequire } from 'node:module';
    const require = createRequire(import.meta.url);
    export const later = (): string => (require('@edge-gateway/greeting/later') as { text: string }).text;`,
  'app/src/in-thread.ts': `
    import { once } from 'node:events';
    import { Worker } from 'node:worker_threads';
    const file = import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js';
    export const inThread = async (): Promise<unknown> =>
      (await once(new Worker(new URL(file, import.meta.url)), 'message'))[0];`,
  'app/src/thread.ts': `
    import { parentPort } from 'node:worker_threads';
    parentPort!.postMessage('from a thread');`,
  'app/src/broken.ts': `
    interface Shape { readonly name: string }
    export function fail(): never {
      throw new Error('broken on purpose');
    }`,
  'greeting/package.json': `{
    "name": "@edge-gateway/greeting", "type": "module", "sideEffects": false,
    "exports": { ".": { "source": "./src/index.ts" }, "./later": { "source": "./src/later.ts" } }
  }`,
  'greeting/src/index.ts': `export const greeting = 'hello';`,
  'greeting/src/later.ts': `import { greeting } from './index.ts';\nexport const text = \`\${greeting}, later\`;`,
};

describe('bundles of programs', () => {
  let root: string;
  const bundled = (file: string): string => join(root, 'app', 'bundle', file);
  const start = (...args: string[]) => run(process.execPath, ['--no-warnings', ...args], { cwd: root });

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'bundle-'));
    for (const [path, text] of Object.entries(FILES)) write(path, text);
    mkdirSync(join(root, 'node_modules', '@edge-gateway'), { recursive: true });
    symlinkSync(join(root, 'greeting'), join(root, 'node_modules', '@edge-gateway', 'greeting'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function write(path: string, text: string): void {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  it('run with what they load later, and without fetch', async () => {
    expect(await bundlePrograms(root, PROGRAMS)).to.deep.equal(['hello']);
    const { stdout } = await start(bundled('hello.js'));
    expect(JSON.parse(stdout)).to.deep.equal({
      greeting: 'hello',
      later: 'hello, later',
      thread: 'from a thread',
      server: 'function',
      isFetchLoaded: false,
    });
  });

  it('are made again only if a source, a manifest or the lockfile has changed', async () => {
    await bundlePrograms(root, PROGRAMS);
    expect(await bundlePrograms(root, PROGRAMS)).to.deep.equal([]);
    for (const [path, text] of [
      ['greeting/src/index.ts', `export const greeting = 'good evening';`],
      ['greeting/package.json', `${FILES['greeting/package.json']}\n`],
      ['pnpm-lock.yaml', 'lockfileVersion: 9'],
    ] as const) {
      write(path, text);
      expect(await bundlePrograms(root, PROGRAMS), path).to.deep.equal(['hello']);
      expect(await bundlePrograms(root, PROGRAMS), path).to.deep.equal([]);
    }
    expect((await start(bundled('hello.js'))).stdout).to.contain('good evening, later');
    rmSync(bundled('hello.js'));
    expect(await bundlePrograms(root, PROGRAMS)).to.deep.equal(['hello']);
  });

  it('name functions in stack traces, and lines of the sources if Node.js reads source maps', async () => {
    await bundlePrograms(root, PROGRAMS);
    const failure = async (...flags: string[]): Promise<string> =>
      start(...flags, bundled('hello.js'), 'throw').catch(
        ({ stderr }: { stderr: string }) => stderr,
      ) as Promise<string>;
    expect(await failure()).to.match(
      /Error: broken on purpose\n +at (?:Module\.)?fail \(file:.*\/app\/bundle\/broken-[\w-]+\.js:\d+:\d+\)/,
    );
    expect(await failure('--enable-source-maps')).to.match(
      /Error: broken on purpose\n +at (?:Module\.)?fail \(.*\/app\/src\/broken\.ts:4:\d+\)/,
    );
  });

  it('keep files of earlier builds for programs that run, until they are old or packed', async () => {
    await bundlePrograms(root, PROGRAMS);
    const old = bundled('old-12345678.js');
    writeFileSync(old, '');
    removeOldFiles(Date.now() - DAY_MS, root, PROGRAMS);
    expect(existsSync(old)).to.equal(true);
    const yesterday = new Date(Date.now() - 2 * DAY_MS);
    utimesSync(old, yesterday, yesterday);
    const files = readdirSync(join(root, 'app', 'bundle'));
    removeOldFiles(Date.now() - DAY_MS, root, PROGRAMS);
    expect(readdirSync(join(root, 'app', 'bundle'))).to.deep.equal(files.filter((file) => !old.endsWith(file)));
    writeFileSync(old, '');
    removeOldFiles(Infinity, root, PROGRAMS);
    expect(existsSync(old)).to.equal(false);
  });

  it('need manifests that declare what stays outside', async () => {
    write('greeting/src/index.ts', `export { GraphQLError as greeting } from 'graphql';`);
    write(
      'greeting/package.json',
      FILES['greeting/package.json']!.replace('{', '{ "dependencies": { "graphql": "9.9.9" },'),
    );
    const failure = await bundlePrograms(root, PROGRAMS).catch((error: Error) => error.message);
    expect(failure).to.contain('app/package.json has to depend on graphql 9.9.9, like @edge-gateway/greeting');
  });
});

describe('the bundles of this repository', () => {
  before(() => bundlePrograms());

  for (const [dir, name, maxMegabytes] of [
    ['packages/cli', 'gatewayctl', 5],
    ['apps/gateway', 'edge-gateway', 7],
  ] as const) {
    it(`${name}: contains the licences of the packages in it`, () => {
      const licenses = readFileSync(join(ROOT, dir, 'bundle', 'LICENSES.txt'), 'utf8');
      for (const part of licenses.split(`\n\n${'-'.repeat(80)}\n\n`))
        expect(part).to.match(/^[@\w][\w/.-]* \d+\.\d+\.\d+ \(.+\)\n\n[^]*(?:copyright|warranty)/im);
      expect(licenses)
        .to.match(/^pino \d/m)
        .and.to.match(/^commander \d/m);
    });

    it(`${name}: is small`, () => {
      const { files } = JSON.parse(
        readFileSync(join(ROOT, 'node_modules', '.cache', `bundle-${name}.json`), 'utf8'),
      ) as { files: string[] };
      const code = files.filter((file) => file.endsWith('.js'));
      const bytes = code.reduce((sum, file) => sum + readFileSync(join(ROOT, dir, 'bundle', file)).length, 0);
      expect(code.length).to.be.within(20, 150);
      expect(bytes / 1024 / 1024).to.be.within(1, maxMegabytes);
    });
  }
});
