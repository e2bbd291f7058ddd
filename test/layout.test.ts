import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from './docs/workspace.ts';

const SOURCES = ['packages/admin', 'packages/cli', 'packages/core', 'packages/extauth', 'packages/graphql']
  .concat(
    'packages/kubernetes',
    'packages/oidc',
    'packages/rate-limit',
    'packages/rbac',
    'packages/routing',
    'packages/xds',
    'apps/demo',
    'apps/gateway',
  )
  .map((name) => `${name}/src`);
const ARCHITECTURE = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');

/** Files at the root of every package that may have them, in addition to at most three of its own. */
const ROOT_FILES = new Set(['index.ts', 'error-codes.ts', 'main.ts']);
const MAX_OWN_ROOT_FILES = 3;

interface Source {
  /** E.g. `packages/core/src`. */
  readonly root: string;
  /** Paths of files below it. */
  readonly files: readonly string[];
}

const sources: readonly Source[] = SOURCES.map((root) => ({
  root,
  files: globSync('**/*.ts', { cwd: join(ROOT, root) }).toSorted(),
}));

/** Returns each folder with the names of the files and folders directly in it. */
function foldersOf(files: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (let path of files) {
    for (; path !== '.'; path = dirname(path)) {
      const folder = dirname(path);
      folders.set(folder, (folders.get(folder) ?? new Set()).add(basename(path)));
    }
  }
  return folders;
}

describe('the layout of the sources', () => {
  it('covers every package and app', () => {
    const found = globSync(['packages/*/src', 'apps/*/src'], { cwd: ROOT });
    expect(found.toSorted()).to.deep.equal(SOURCES.toSorted());
  });

  for (const { root, files } of sources) {
    it(`${root} has few files at its root`, () => {
      const own = files.filter((file) => dirname(file) === '.' && !ROOT_FILES.has(file));
      expect(own, own.join(', ')).to.have.length.at.most(MAX_OWN_ROOT_FILES);
    });

    it(`${root} has no folder with a single file`, () => {
      const lonely = [...foldersOf(files)].filter(([folder, entries]) => folder !== '.' && entries.size < 2);
      expect(lonely.map(([folder]) => folder)).to.deep.equal([]);
    });

    it(`${root} has no two files of one name`, () => {
      const byName = Map.groupBy(
        files.filter((file) => basename(file) !== 'index.ts'),
        (file) => basename(file),
      );
      const equal = [...byName.values()].filter((paths) => paths.length > 1);
      expect(equal.map((paths) => paths.join(', '))).to.deep.equal([]);
    });

    it(`${root} has only folders that docs/architecture.md describes`, () => {
      const heading = `\`${root}\`:\n\n`;
      const start = ARCHITECTURE.indexOf(heading);
      const table = start < 0 ? '' : ARCHITECTURE.slice(start + heading.length).split('\n\n')[0]!;
      const described = [...table.matchAll(/^\| `([\w-]+)`/gm)].map(([, folder]) => folder!);
      const folders = [...foldersOf(files).get('.')!].filter((entry) => !entry.endsWith('.ts'));
      expect(described.toSorted()).to.deep.equal(folders.toSorted());
    });
  }

  it('has every path that docs/architecture.md names', () => {
    const paths = [...ARCHITECTURE.matchAll(/\b(?:packages|apps)\/[\w./-]*\w/g)].map(([path]) => path);
    expect(paths.length).to.be.greaterThan(20);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).to.deep.equal([]);
  });
});
