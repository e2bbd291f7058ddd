// Bundles the programs: Node.js starts a few files faster than a thousand modules. Does nothing if no source has changed since the last bundle.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The folder of a package for its bundle. All files are directly in it, as `src/main.ts` is in `src`, so that relative URLs of modules there stay right. */
const FOLDER = 'bundle';
const PROGRAMS = [
  { dir: 'packages/cli', name: 'gatewayctl' },
  { dir: 'apps/gateway', name: 'edge-gateway' },
];

/** Packages that become part of the bundles: small, and needed by each start. All others are loaded from `node_modules`. */
const BUNDLED = new Set('commander jose js-yaml lru-cache picocolors pino re2js yaml'.split(' '));

/** Files that another build no longer has remain as long, in milliseconds: programs that run may load them later. */
const KEPT_MS = 24 * 3600 * 1000;

/** A thread or process, started by the file of its program: `'./x.ts' : './x.js'`. */
const STARTED_FILES = /'\.\/([\w-]+)\.ts' : '\.\/\1\.js'/g;
/** A package that is loaded when it is first needed, synchronously. */
const REQUIRED = /\brequire\('(@?\w[\w/.-]*)'\)/g;

/** Bundles the programs whose sources have changed; resolves with their names. */
export async function bundlePrograms(root = ROOT, programs = PROGRAMS) {
  const stale = programs.filter((program) => !isFresh(root, program));
  for (const program of stale) await bundle(root, program);
  return stale.map(({ name }) => name);
}

/** Deletes files of earlier builds that were written before a time, by default all. */
export function removeOldFiles(before = Infinity, root = ROOT, programs = PROGRAMS) {
  for (const { dir, name } of programs) {
    const { files } = readStamp(root, name);
    const folder = join(root, dir, FOLDER);
    for (const file of readdirSync(folder)) {
      const path = join(folder, file);
      if (!files.includes(file) && statSync(path).mtimeMs < before) rmSync(path);
    }
  }
}

const stampOf = (root, name) => join(root, 'node_modules', '.cache', `bundle-${name}.json`);

function readStamp(root, name) {
  return JSON.parse(readFileSync(stampOf(root, name), 'utf8'));
}

/** Returns true if the files of a bundle exist, and those that it was made of are as they were. */
function isFresh(root, { dir, name }) {
  if (!existsSync(stampOf(root, name))) return false;
  const { inputs, files } = readStamp(root, name);
  return (
    files.every((file) => existsSync(join(root, dir, FOLDER, file))) &&
    Object.entries(inputs).every(([file, state]) => stateOf(file) === state)
  );
}

function stateOf(file) {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.size} ${stat.mtimeMs}` : '';
}

async function bundle(root, { dir, name }) {
  // Loaded only when there is something to do.
  const { rolldown } = await import('rolldown');
  const folder = join(root, dir, FOLDER);
  // Sources that change meanwhile make the result stale.
  const states = {};
  const addInput = (file) => (states[file] ??= stateOf(file));
  for (const file of [join(root, 'pnpm-lock.yaml'), fileURLToPath(import.meta.url)]) addInput(file);
  const packages = new Map();
  const made = await rolldown({
    cwd: join(root, dir),
    input: { [name]: 'src/main.ts' },
    platform: 'node',
    tsconfig: false,
    transform: { target: 'node22.18' },
    resolve: { conditionNames: ['source', 'node', 'import'] },
    plugins: [inputs(addInput), httpWithoutFetch(), loadedLater(), dependencies(join(root, dir))],
  });
  const { output } = await made.write({
    dir: folder,
    format: 'esm',
    sourcemap: true,
    sourcemapExcludeSources: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await made.close();
  for (const id of output.flatMap(({ moduleIds = [] }) => moduleIds)) {
    if (!id.includes(`${sep}node_modules${sep}`)) continue;
    const owner = packageOf(id);
    packages.set(owner, manifestOf(owner));
  }
  writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(packages));
  const files = ['LICENSES.txt', ...output.map(({ fileName }) => fileName)];
  mkdirSync(dirname(stampOf(root, name)), { recursive: true });
  writeFileSync(stampOf(root, name), JSON.stringify({ inputs: states, files }));
}

/** Reports the files of this repository that a bundle is made of. */
function inputs(add) {
  return {
    name: 'inputs',
    load: {
      filter: { id: { include: /^[/\w]/, exclude: /[\\/]node_modules[\\/]/ } },
      handler(id) {
        add(id);
        add(join(packageOf(id), 'package.json'));
      },
    },
  };
}

/**
 * Imports `node:http` without the `fetch` of Node.js, which the programs do not use: an import reads all exports, and the getters of these load it.
 */
function httpWithoutFetch() {
  const exports = Object.keys(http).filter((name) => !['WebSocket', 'CloseEvent', 'MessageEvent'].includes(name));
  return {
    name: 'http-without-fetch',
    resolveId: { filter: { id: /^node:http$/ }, handler: () => '\0http' },
    load: {
      filter: { id: /^\0http$/ },
      handler: () => `export const { ${exports.join(', ')} } = process.getBuiltinModule('node:http');`,
    },
  };
}

/** Makes files of their own of what programs load by name: threads, workers, and own packages that are required. */
function loadedLater() {
  return {
    name: 'loaded-later',
    transform: {
      filter: { id: /\.ts$/ },
      async handler(code, id) {
        for (const [, file] of code.matchAll(STARTED_FILES))
          this.emitFile({ type: 'chunk', id: join(dirname(id), `${file}.ts`), fileName: `${file}.js` });
        let changed = code;
        for (const [call, specifier] of code.matchAll(REQUIRED)) {
          const resolved = await this.resolve(specifier, id);
          if (!resolved || resolved.external) continue;
          const fileName = `${specifier.replace('@edge-gateway/', '').replaceAll('/', '-')}.js`;
          this.emitFile({ type: 'chunk', id: resolved.id, fileName });
          changed = changed.replace(call, `require('./${fileName}')`);
        }
        return changed === code ? undefined : { code: changed, map: null };
      },
    },
  };
}

/** Leaves packages outside that are not to be bundled; the package of the program has to depend on them, in the version of the package that imports them. */
function dependencies(dir) {
  const declared = manifestOf(dir).dependencies;
  return {
    name: 'dependencies',
    resolveId: {
      filter: { id: /^[@\w]/ },
      handler(specifier, importer) {
        if (importer === undefined || specifier.startsWith('node:') || specifier.startsWith('@edge-gateway/'))
          return undefined;
        const packageName = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)[0];
        if (importer.includes(`${sep}node_modules${sep}`) || BUNDLED.has(packageName)) return undefined;
        const owner = manifestOf(packageOf(importer));
        const version = owner.dependencies?.[packageName];
        if (declared[packageName] !== (version ?? declared[packageName]) || !declared[packageName])
          throw new Error(
            `${join(dir, 'package.json')} has to depend on ${packageName} ${version}, like ${owner.name}`,
          );
        return { id: specifier, external: true };
      },
    },
  };
}

/** Returns the folder of the package that a file is part of. */
function packageOf(file) {
  let dir = dirname(file);
  // Some packages have further manifests, without a name, that only say which kind of modules a folder has.
  while (!existsSync(join(dir, 'package.json')) || manifestOf(dir).name === undefined) dir = dirname(dir);
  return dir;
}

const manifests = new Map();

function manifestOf(dir) {
  if (!manifests.has(dir)) manifests.set(dir, JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')));
  return manifests.get(dir);
}

/** Returns the licences of packages that are part of a bundle. */
function licensesOf(packages) {
  const parts = Array.from(packages, ([dir, { name, version, license }]) => {
    const files = readdirSync(dir).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file));
    if (files.length === 0) throw new Error(`${name} has no file with its licence, and so cannot be part of a bundle`);
    const texts = files.map((file) => readFileSync(join(dir, file), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...texts].join('\n\n');
  });
  return `Packages that are part of these files, and their licences.\n\n${parts.sort().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await bundlePrograms();
  removeOldFiles(Date.now() - KEPT_MS);
}
