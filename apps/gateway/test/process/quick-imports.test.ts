import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const MODULE = new URL('../../src/process/quick-imports.ts', import.meta.url).href;

const FILES: Readonly<Record<string, string>> = {
  'node_modules/@edge-gateway/one/package.json':
    '{"name": "@edge-gateway/one", "type": "module", "exports": {".": "./dist/index.js"}}',
  'node_modules/@edge-gateway/one/dist/index.js':
    "export { inner } from './inner/a.js';\nexport { other } from 'other';\nexport { default as data } from './data.json' with { type: 'json' };\n",
  'node_modules/@edge-gateway/one/dist/inner/a.js': "export { inner } from '../b.js';\n",
  'node_modules/@edge-gateway/one/dist/b.js': "export const inner = 'inner';\n",
  'node_modules/@edge-gateway/one/dist/data.json': '{"a": 1}',
  'node_modules/other/package.json': '{"name": "other", "exports": "./dist/index.js"}',
  'node_modules/other/dist/index.js': "exports.other = require('./c.js');\n",
  'node_modules/other/dist/c.js': "module.exports = 'CommonJS';\n",
  'packages/source/package.json': '{"name": "@edge-gateway/source", "type": "module", "exports": "./src/index.ts"}',
  'packages/source/src/index.ts': "export { flat } from 'flat';\n",
  'node_modules/flat/package.json': '{"name": "flat", "exports": "./index.mjs"}',
  'node_modules/flat/index.mjs': "export { default as flat } from './d.js';\n",
  'node_modules/flat/d.js': "module.exports = 'without a folder';\n",
};

describe('importQuickly', () => {
  let created: string;
  /** Below a folder with the name of those with compiled modules. */
  let directory: string;
  before(() => {
    created = mkdtempSync(join(tmpdir(), 'quick-imports-'));
    directory = join(created, 'dist', 'app');
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), text);
    }
    symlinkSync(join(directory, 'packages', 'source'), join(directory, 'node_modules', '@edge-gateway', 'source'));
  });
  after(() => rmSync(created, { recursive: true }));

  /** Runs a program that calls the function; returns what it logs as JSON. */
  async function run(program: string): Promise<unknown> {
    const path = join(directory, 'program.mjs');
    writeFileSync(
      path,
      `import { createRequire, registerHooks } from 'node:module';
      const searched = [];
      // Called for what later hooks do not resolve.
      registerHooks({ resolve: (specifier, context, next) => (searched.push(specifier), next(specifier, context)) });
      const { importQuickly } = await import(${JSON.stringify(MODULE)});
      await importQuickly();
      ${program}`,
    );
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--no-warnings', path]);
    expect(stderr).to.equal('');
    return JSON.parse(stdout);
  }

  it('resolves compiled modules of own packages without a search, and everything else as usual', async () => {
    const found = await run(`
      const { inner, other, data } = await import('@edge-gateway/one');
      console.log(JSON.stringify({ inner, other, data, searched: searched.filter((each) => !each.startsWith('file:')) }));
    `);
    expect(found).to.deep.include({ inner: 'inner', other: 'CommonJS', data: { a: 1 } });
    const { searched } = found as { readonly searched: readonly string[] };
    expect(searched).to.include.members(['@edge-gateway/one', 'other', './data.json', './c.js']);
    expect(searched).to.not.include('./inner/a.js');
    expect(searched).to.not.include('../b.js');
  });

  it('resolves everything as usual while the sources run, also below a folder named dist', async () => {
    const found = await run(`
      const { flat } = await import('@edge-gateway/source');
      console.log(JSON.stringify({ flat, searched: searched.filter((each) => !each.startsWith('file:')) }));
    `);
    expect(found).to.deep.include({ flat: 'without a folder' });
    expect((found as { readonly searched: readonly string[] }).searched).to.include('./d.js');
  });

  it('leaves fetch unloaded when node:http is imported, and available', async () => {
    const found = await run(`
      const isLoaded = () => process.moduleLoadList.some((name) => name.endsWith('undici/undici'));
      const { createServer } = await import('node:http');
      const before = isLoaded();
      const { WebSocket } = createRequire(import.meta.url)('node:http');
      console.log(JSON.stringify({
        before,
        isSame: WebSocket === globalThis.WebSocket,
        after: isLoaded(),
        types: [typeof createServer, typeof WebSocket, typeof fetch],
      }));
    `);
    expect(found).to.deep.equal({
      before: false,
      isSame: true,
      after: true,
      types: ['function', 'function', 'function'],
    });
  });
});
