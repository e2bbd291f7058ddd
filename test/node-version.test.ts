import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ROOT } from './docs/workspace.ts';

const run = promisify(execFile);
const ENTRIES = Object.keys(
  JSON.parse(readFileSync(join(ROOT, 'test', 'public-names.json'), 'utf8')) as Record<string, string[]>,
);
const SENTENCE = 'edge-gateway needs Node.js 22.18 or later, this is v20.19.0';
const older = `data:text/javascript,Object.defineProperty(process,'version',{value:'v20.19.0'})`;

/** Names of built-in modules that Node 20 does not have: an import of one fails before any module of the program runs. */
const NEWER =
  /\b(?:globSync|enableCompileCache|flushCompileCache|registerHooks|getCACertificates|getSystemErrorMessage|createZstd\w+|zstd\w+)\b/;

describe('an older version of Node.js', () => {
  it('fails at the import of every package with one sentence', async () => {
    const program = `const results = await Promise.allSettled(process.argv.slice(1).map((name) => import(name)));
      console.log(JSON.stringify(results.map(({ reason }) => reason?.stack ?? 'nothing')));`;
    const args = ['--conditions=source', '--import', older, '--input-type=module', '-e', program, ...ENTRIES];
    const { stdout } = await run(process.execPath, args, { cwd: ROOT, env: { ...process.env, NODE_OPTIONS: '' } });
    expect(JSON.parse(stdout)).to.deep.equal(ENTRIES.map(() => `Error: ${SENTENCE}`));
  });

  it('is checked before anything else', () => {
    const lines = ENTRIES.map((entry) => {
      const [, dir = '', ...rest] = entry.split('/');
      const path = join(ROOT, 'packages', dir);
      const { exports } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as {
        exports: Record<string, { source: string }>;
      };
      const { source } = exports[['.', ...rest].join('/')]!;
      return [entry, readFileSync(join(path, source), 'utf8').split('\n', 1)[0]];
    });
    for (const [entry, line] of lines)
      expect(line, entry).to.match(
        /^import '(?:@edge-gateway\/core\/supported-node|\.[./]*\/node-version\/supported\.ts)';$/,
      );
  });

  it('finds every name that a package imports from a built-in module', () => {
    // Programs check the version before they import these files.
    const own = new Set(['core/src/state-file/compile-cache.ts']);
    const folder = join(ROOT, 'packages');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (file) => /^[\w-]+\/src\/.*\.ts$/.test(file) && !own.has(file),
    );
    expect(files.length).to.be.above(500);
    const newer = files.filter((file) =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(/^import \{([^}]*)\} from 'node:/gm)].some(([, names]) =>
        NEWER.test(names!),
      ),
    );
    expect(newer).to.deep.equal([]);
  });
});
