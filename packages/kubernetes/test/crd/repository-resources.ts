import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KINDS, parseDocuments, validateWritten, type Kind } from '@edge-gateway/core';
import { readPage } from '../../../../test/docs/page.ts';
import { ROOT } from '../../../../test/docs/workspace.ts';

/** A resource of the repository, for a cluster. */
export interface RepositoryResource {
  /** Where it is written: `file:line:column`. */
  readonly origin: string;
  /** In the namespace `default`, under a name of its own. */
  readonly object: { readonly apiVersion: string; readonly kind: Kind; readonly metadata: object };
  readonly plural: string;
  /** The problems that the API server finds as well, as `CODE path`. */
  readonly problems: readonly string[];
}

/** Codes of problems that a schema expresses. */
const BY_SCHEMA: ReadonlySet<string> = new Set(
  'BAD_DURATION BAD_ENUM MISSING_FIELD ONEOF_CONFLICT ONEOF_MISSING OUT_OF_RANGE UNKNOWN_KEY MISPLACED_KEY WRONG_TYPE'.split(
    ' ',
  ),
);

/** Returns the resources of all golden inputs, documentation, examples, and files to deploy. */
export function repositoryResources(): RepositoryResource[] {
  const files = globSync(
    [
      'packages/*/test/golden/**/*.{in,then}.yaml',
      'apps/*/src/**/*.yaml',
      'examples/**/*.yaml',
      'deploy/compose/**/*.yaml',
    ],
    { cwd: ROOT, exclude: ['**/node_modules/**'] },
  ).sort();
  const pages = globSync(['README.md', 'docs/*.md', 'packages/*/README.md'], { cwd: ROOT }).sort();
  const fromFiles = files.flatMap((file) => resourcesIn(readFileSync(join(ROOT, file), 'utf8'), file));
  const fromPages = pages.flatMap((page) =>
    readPage(join(ROOT, page))
      .filter(({ language, text }) => language === 'yaml' && /^apiVersion:/m.test(text))
      .flatMap(({ text, line }) => resourcesIn(text, `${page}:${line}`)),
  );
  return [...fromFiles, ...fromPages];
}

function resourcesIn(text: string, file: string): RepositoryResource[] {
  return parseDocuments(text, file).flatMap((written, i) => {
    const { value, issues } = written;
    if (typeof value !== 'object' || value === null || issues.length > 0) return [];
    const { apiVersion, kind, metadata, ...rest } = value as Record<string, any>;
    const info = KINDS.get(kind);
    if (!info || info.body || !info.apiVersions.includes(apiVersion) || typeof metadata !== 'object') return [];
    const found = validateWritten(written).issues.filter(({ code }) => BY_SCHEMA.has(code));
    const { labels, annotations } = metadata as { labels?: object; annotations?: object };
    const object = {
      // A cluster has each kind in one group.
      apiVersion: info.apiVersions[0]!,
      kind,
      metadata: { name: `case-${i}`, namespace: 'default', labels, annotations },
      ...rest,
    };
    return {
      origin: `${file}#${i}`,
      object,
      plural: info.plural,
      problems: found.map(({ code, path }) => `${code} ${path.join('.')}`),
    };
  });
}
