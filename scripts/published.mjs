// The packages that are for users, and how they become tarballs.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeOldFiles } from './bundle.mjs';
import { PNPM } from './setup.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Folders of the packages that are for users. */
export const published = ['packages', 'apps']
  .flatMap((dir) => readdirSync(join(root, dir)).map((name) => join(root, dir, name)))
  .filter((dir) => !manifestOf(dir).private);

export function manifestOf(dir) {
  return JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
}

/** Returns the commit that is packed: `COMMIT`, else that of the repository; `undefined` outside of a repository. */
export function commit() {
  if (process.env.COMMIT) return process.env.COMMIT;
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/**
 * Packs packages into a folder and returns the paths of the tarballs. Versions of the workspace are resolved, and programs are packed
 * with the commit that they show.
 */
export function pack(dirs, folder) {
  const built = commit();
  removeOldFiles();
  const added = [];
  try {
    for (const dir of dirs) {
      const { files } = manifestOf(dir);
      if (files.includes('build.json') && built) {
        added.push(join(dir, 'build.json'));
        writeFileSync(join(dir, 'build.json'), JSON.stringify({ commit: built }));
      }
      if (files.includes('chart')) {
        added.push(join(dir, 'chart'));
        copyWithoutLinks(join(root, 'deploy', 'helm', 'edge-gateway'), join(dir, 'chart'));
      }
    }
    // One process for all: npx takes longer than the packing.
    const filters = dirs.flatMap((dir) => ['--filter', `./${relative(root, dir).replaceAll('\\', '/')}`]);
    const done = spawnSync('npx', ['-y', PNPM, '-r', ...filters, 'pack', '--pack-destination', folder], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, npm_config_prefer_offline: 'true' },
      shell: process.platform === 'win32',
    });
    if (done.status !== 0) throw new Error(`packing failed:\n${done.error ?? ''}${done.stdout}${done.stderr}`);
  } finally {
    for (const path of added) rmSync(path, { recursive: true, force: true });
  }
  return dirs.map((dir) => {
    const { name, version } = manifestOf(dir);
    return join(folder, `${name.slice(1).replace('/', '-')}-${version}.tgz`);
  });
}

/** Copies a file or folder with what its links point to, because packages cannot contain links. */
function copyWithoutLinks(from, to) {
  if (!statSync(from).isDirectory()) return copyFileSync(from, to);
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) copyWithoutLinks(join(from, name), join(to, name));
}
