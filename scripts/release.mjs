// `npm run release`: packs and checks every package, and publishes them.
//   -- --version   writes the versions and changelogs from the changesets, to be committed
//   -- --dry-run   publishes nothing, and prints what would be published
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { commit, manifestOf, pack, published, root } from './published.mjs';
import { PNPM } from './setup.mjs';

const CHANGESETS = join(root, '.changeset');

const [flag, ...rest] = process.argv.slice(2);
if (rest.length > 0 || ![undefined, '--dry-run', '--version'].includes(flag)) {
  console.error('usage: npm run release [-- --dry-run | --version]');
  process.exit(2);
}

function run(program, args, options = {}) {
  const done = spawnSync(program, args, { cwd: root, encoding: 'utf8', ...options });
  if (done.error) throw done.error;
  return done;
}

function pendingChangesets() {
  return readdirSync(CHANGESETS).filter((name) => name.endsWith('.md') && name !== 'README.md');
}

/** Changesets updates the lockfile by calling `pnpm`, which need not be on the PATH. */
function writeVersions() {
  const dir = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    const pnpm = join(dir, 'pnpm');
    writeFileSync(pnpm, `#!/bin/sh\nexec npx -y ${PNPM} "$@"\n`);
    chmodSync(pnpm, 0o755);
    const env = { ...process.env, PATH: `${dir}${delimiter}${process.env.PATH}` };
    const { status } = run('changeset', ['version'], { env, stdio: 'inherit' });
    if (status !== 0) throw new Error('changeset version failed');
    alignVersions(manifestOf(published[0]).version);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Writes the version of the packages into the files that changesets does not know. */
function alignVersions(version) {
  const replace = (file, pattern, text) => {
    const path = join(root, file);
    const before = readFileSync(path, 'utf8');
    if (!pattern.test(before)) throw new Error(`${file} has no version`);
    writeFileSync(path, before.replaceAll(new RegExp(pattern, 'gm'), text));
  };
  replace('package.json', /^  "version": ".*",$/m, `  "version": "${version}",`);
  replace('deploy/helm/edge-gateway/Chart.yaml', /^(version|appVersion): .*$/m, `$1: ${version}`);
  replace('examples/express-login-rbac/package.json', /-[^-"]*\.tgz"/m, `-${version}.tgz"`);
}

/** Returns the next version by the changesets: all packages have the same. */
function nextVersion(version) {
  const levels = new Set(
    pendingChangesets().flatMap((name) =>
      [...readFileSync(join(CHANGESETS, name), 'utf8').matchAll(/^['"].*['"]: (major|minor|patch)$/gm)].map(
        ([, level]) => level,
      ),
    ),
  );
  const [major, minor, patch] = version.split('.').map(Number);
  if (levels.has('major')) return `${major + 1}.0.0`;
  if (levels.has('minor')) return `${major}.${minor + 1}.0`;
  return levels.has('patch') ? `${major}.${minor}.${patch + 1}` : version;
}

/** Returns why a publication is not possible now. */
function obstacles(versions) {
  const changesets = pendingChangesets().length;
  const found = [];
  if (versions.size > 1) found.push(`the packages have different versions: ${[...versions].join(', ')}`);
  if (changesets > 0)
    found.push(`${changesets} changesets are pending: run npm run release -- --version, and commit the result`);
  if (versions.has('0.0.0')) found.push('the version is 0.0.0');
  if (run('git', ['status', '--porcelain']).stdout !== '') found.push('there are uncommitted changes');
  for (const version of versions)
    if (run('git', ['rev-parse', '-q', '--verify', `refs/tags/v${version}`]).status === 0)
      found.push(`the tag v${version} exists already`);
  return found;
}

/** Returns the problems that publint and attw find in a tarball. */
async function problemsOf(tarball, manifest) {
  const bytes = new Uint8Array(readFileSync(tarball));
  const { messages } = await publint({ strict: true, pack: { tarball: bytes.buffer } });
  const problems = messages.map((message) => `publint: ${formatMessage(message, manifest, { color: false })}`);
  const attw = run('attw', [tarball, '--profile', 'esm-only', '--no-color', '--no-emoji']);
  return attw.status === 0 ? problems : [...problems, `attw: ${attw.stdout}${attw.stderr}`];
}

/** Packages come after those that they depend on, so that each can be installed as soon as it is published. */
function inOrder(dirs) {
  const byName = new Map(dirs.map((dir) => [manifestOf(dir).name, dir]));
  const ordered = new Set();
  const add = (dir) => {
    if (ordered.has(dir)) return;
    for (const name of Object.keys(manifestOf(dir).dependencies ?? {})) if (byName.has(name)) add(byName.get(name));
    ordered.add(dir);
  };
  dirs.forEach(add);
  return [...ordered];
}

async function release(isDryRun) {
  const versions = new Set(published.map((dir) => manifestOf(dir).version));
  const reasons = obstacles(versions);
  if (!isDryRun && reasons.length > 0) throw new Error(reasons.map((reason) => `not published: ${reason}`).join('\n'));
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    const dirs = inOrder(published);
    const tarballs = pack(dirs, folder);
    let failed = false;
    for (const [index, tarball] of tarballs.entries()) {
      const manifest = manifestOf(dirs[index]);
      const problems = await problemsOf(tarball, manifest);
      failed ||= problems.length > 0;
      for (const problem of problems) console.error(`${manifest.name}: ${problem}`);
      const kilobytes = Math.round(statSync(tarball).size / 1024);
      console.log(
        `${manifest.name}@${isDryRun ? nextVersion(manifest.version) : manifest.version}  ${basename(tarball)}  ${kilobytes} KB`,
      );
    }
    if (failed) throw new Error('not published: the packages have problems');
    if (isDryRun) {
      console.log(`${tarballs.length} packages of commit ${commit()} would be published.`);
      for (const reason of reasons) console.log(`Before that: ${reason}`);
      return;
    }
    for (const tarball of tarballs)
      if (run('npm', ['publish', tarball, '--access', 'public'], { stdio: 'inherit' }).status !== 0)
        throw new Error(
          `npm publish failed for ${basename(tarball)}; published packages remain, run it again for the others`,
        );
    const tag = `v${[...versions][0]}`;
    run('git', ['tag', '--annotate', tag, '--message', tag]);
    console.log(`Published, and tagged as ${tag}: push the tag.`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

try {
  if (flag === '--version') writeVersions();
  else await release(flag === '--dry-run');
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
