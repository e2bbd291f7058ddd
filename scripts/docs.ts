// Writes docs/reference, the man pages and the CRDs from schemas, error tables and commands; with --check only lists what is out of date.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { stringify } from 'yaml';
import { resourceSchema } from '../packages/core/src/schema/json-schema.ts';
import { customResourceDefinitions } from '../packages/kubernetes/src/crd/definitions.ts';
import { commandsPage, manPages } from './docs/command-pages.ts';
import { envoyPage } from './docs/envoy-page.ts';
import { errorsPage } from './docs/errors-page.ts';
import { kinds } from './docs/model.ts';
import { resourcePage } from './docs/resource-page.ts';
import { supportPage } from './docs/support-page.ts';
import { page, table } from './docs/table.ts';

const root = dirname(import.meta.dirname);
/** The folders of generated files. */
const FOLDERS = ['docs/reference', 'packages/cli/man', 'deploy/crds'];

/** Every generated file, by its path. */
export async function generate(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>([
    ['README.md', indexPage()],
    ['support.md', supportPage()],
    ['envoy.md', envoyPage()],
    ['errors.md', await errorsPage(root)],
    ['gatewayctl.md', commandsPage()],
  ]);
  for (const info of kinds) {
    files.set(`resources/${info.kind.toLowerCase()}.md`, resourcePage(info));
    files.set(`schemas/${info.kind}.json`, `${JSON.stringify(resourceSchema(info), undefined, 1)}\n`);
  }
  files.set('schemas/all.json', `${JSON.stringify(anyKind(), undefined, 1)}\n`);
  return new Map([
    ...Array.from(files, ([path, content]) => [`docs/reference/${path}`, content] as const),
    ...Array.from(manPages(), ([path, content]) => [`packages/cli/man/${path}`, content] as const),
    ...customResourceDefinitions().map((each) => [`deploy/crds/${each.metadata.name}.yaml`, yaml(each)] as const),
  ]);
}

/** Deep schemas would be mostly white space with more indentation. */
function yaml(content: object): string {
  return stringify(content, { indent: 1, lineWidth: 0, aliasDuplicateObjects: false });
}

/** The schema of any resource: that of its kind. */
function anyKind(): object {
  const cases = kinds.map(({ kind }) => ({
    if: { properties: { kind: { const: kind } }, required: ['kind'] },
    // oxlint-disable-next-line unicorn/no-thenable -- the word of JSON Schema
    then: { $ref: `${kind}.json` },
  }));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Resource',
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata'],
    properties: { kind: { enum: kinds.map(({ kind }) => kind) } },
    allOf: cases,
  };
}

/** Paths that differ from their source, are missing, or have no source. */
export async function outdated(): Promise<string[]> {
  const files = await generate();
  const present = new Set(existing());
  const differing = [...files].filter(([path, content]) => !present.has(path) || read(path) !== content);
  return [...differing.map(([path]) => path), ...[...present].filter((path) => !files.has(path))].toSorted();
}

async function write(): Promise<void> {
  const files = await generate();
  for (const path of existing()) if (!files.has(path)) rmSync(join(root, path));
  for (const [path, content] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  console.log(`docs: wrote ${files.size} files to ${FOLDERS.join(', ')}`);
}

function existing(): string[] {
  const folders = FOLDERS.map((folder) => join(root, folder)).filter((folder) => existsSync(folder));
  const entries = folders.flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }));
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'));
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function indexPage(): string {
  const rows = kinds.map(({ kind, apiVersions, plural, shortNames, description }) => [
    `[${kind}](resources/${kind.toLowerCase()}.md)`,
    `\`${apiVersions[0]}\``,
    [plural, ...shortNames].map((name) => `\`${name}\``).join(', '),
    description,
  ]);
  return page([
    '# Reference',
    table(['Kind', 'apiVersion', 'Names', 'What it is'], rows),
    '- [What is supported](support.md), field by field\n- [Errors](errors.md) and problems of resources\n- [Commands of gatewayctl](gatewayctl.md)\n- [JSON Schemas](../editor.md) for editors',
    'All kinds have `metadata.name` and `metadata.namespace` (default `gw-system`). Enums are written by name or number, ' +
      'durations as `5s`, `0.25s` or `1h30m`, keys in camelCase; snake_case is read too. An unknown key is an error.',
  ]);
}

if (import.meta.main) {
  if (process.argv.includes('--check')) {
    const paths = await outdated();
    for (const path of paths) console.error(`docs: ${path} is out of date, run npm run docs`);
    process.exitCode = paths.length > 0 ? 1 : 0;
  } else await write();
}
