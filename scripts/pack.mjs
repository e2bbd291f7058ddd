// `npm run pack`: writes every package as a tarball into a folder, by default `packed`. Versions of the workspace are resolved.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PNPM } from './setup.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Folders of the packages that are for users. */
const published = ['packages', 'apps']
  .flatMap((dir) => readdirSync(join(root, dir)).map((name) => join(root, dir, name)))
  .filter((dir) => !JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')).private);

const [folder = 'packed', ...rest] = process.argv.slice(2);
if (rest.length > 0 || folder.startsWith('-')) {
  console.error('usage: npm run pack [-- FOLDER]');
  process.exit(2);
}
const out = resolve(folder);
mkdirSync(out, { recursive: true });
// Otherwise a tarball of an earlier version would be installed too.
for (const name of readdirSync(out)) if (/^edge-gateway-.*\.tgz$/.test(name)) rmSync(join(out, name));

for (const dir of published) {
  const done = spawnSync('npx', ['-y', PNPM, 'pack', '--pack-destination', out], {
    cwd: dir,
    encoding: 'utf8',
    env: { ...process.env, npm_config_prefer_offline: 'true' },
    shell: process.platform === 'win32',
  });
  if (done.status === 0) continue;
  console.error(`packing ${relative(root, dir)} failed:\n${done.stdout}${done.stderr}`);
  process.exit(1);
}
for (const name of readdirSync(out).toSorted())
  if (name.endsWith('.tgz')) console.log(relative(process.cwd(), join(out, name)));
