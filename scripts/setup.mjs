// Installs what the repository needs, and does nothing when that is already there.
// Runs on whatever Node the machine has (20 or later); what it installs includes the Node that everything else runs on.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const PNPM = 'pnpm@12.21.0';
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.setup');

function fingerprint() {
  const manifests = ['packages', 'apps'].flatMap((dir) =>
    readdirSync(join(root, dir)).map((name) => join(dir, name, 'package.json')),
  );
  const hash = createHash('sha256');
  for (const file of ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests]) {
    const path = join(root, file);
    if (existsSync(path)) hash.update(file).update(readFileSync(path));
  }
  return hash.digest('hex');
}

/** Installs the dependencies unless the ones of this lockfile are there. */
export function setup() {
  const wanted = fingerprint();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.log('Installing dependencies …');
  const done = spawnSync('npx', ['-y', PNPM, 'install', '--frozen-lockfile', '--prefer-offline'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, npm_config_prefer_offline: 'true', CI: 'true' },
    shell: process.platform === 'win32',
  });
  if (done.status !== 0) {
    console.error('Installing the dependencies failed: see above. They come from the npm registry that npm is set to.');
    process.exit(done.status ?? 1);
  }
  writeFileSync(stamp, wanted);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) setup();
