import { realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import type { ObservedProblem } from '../resource/stored.ts';
import type { FieldPath } from '../resource/problem.ts';
import type { Kind } from '../resource/resource.ts';
import type { SettingsSpec } from '../schema/kind/settings.ts';
import { KINDS } from '../schema/kinds.ts';
import { kindOfDocument, withoutIdentity } from '../source/read-kinds.ts';
import type { WrittenResource } from '../source/source.ts';

/** A directory that the Settings name. */
export interface SettingsDirectory {
  readonly path: string;
  /** The path without links. */
  readonly real: string;
  /** The kinds that are read there. */
  readonly kinds: ReadonlySet<Kind>;
  /** Path of the field that names it. */
  readonly field: FieldPath;
}

/** What the directories of Settings are relative to. */
export interface DirectoryBase {
  readonly base: string;
  /** Whether `base` is the directory of the gateway's own resources. Default true. */
  readonly isRead?: boolean;
}

/** How the directories of Settings are read. */
export interface DirectoryScope extends DirectoryBase {
  /** The kinds to read. Default: all. */
  readonly kinds?: ReadonlySet<Kind> | undefined;
}

/** The directories to read, and what is wrong with others. */
export interface DirectoryPlan {
  readonly directories: readonly SettingsDirectory[];
  readonly problems: readonly ObservedProblem[];
}

/** Settings that name directories are read from elsewhere. */
const CONFIGURATION: ReadonlySet<Kind> = new Set([...KINDS.keys()].filter((kind) => kind !== 'Settings'));
const SECRETS: ReadonlySet<Kind> = new Set(['Secret']);
const ARTIFACTS: ReadonlySet<Kind> = new Set(['ConfigMap']);

/**
 * Returns the directories that the Settings name, relative to `base`. `isRead` tells whether `base` is the directory of the gateway's own resources:
 * one below it is then read with it. Of several that contain each other, the outer one is read for all of their kinds.
 */
export function planDirectories(spec: SettingsSpec, { base, isRead = true, kinds }: DirectoryScope): DirectoryPlan {
  const directories: SettingsDirectory[] = [];
  const problems: ObservedProblem[] = [];
  const named = directoriesIn(spec, base)
    .filter((directory) => !kinds || [...directory.kinds].some((kind) => kinds.has(kind)))
    .toSorted((a, b) => a.real.length - b.real.length);
  const own = named.length > 0 ? realPathOf(resolve(base)) : base;
  for (const directory of named) {
    if (isRead && contains(own, directory.real)) continue;
    const outer = directories.findIndex(({ real }) => contains(real, directory.real));
    if (isRead && contains(directory.real, own)) {
      const message = `${directory.path} contains ${own}, the directory of the gateway: choose another one, or one below it`;
      problems.push({ severity: 'warning', path: directory.field, message });
    } else if (outer === -1) directories.push(directory);
    else directories[outer] = merged(directories[outer]!, directory);
  }
  return { directories, problems };
}

/** Returns the directories of the fields of the Settings, relative to `base`. */
export function directoriesIn(spec: SettingsSpec, base: string): SettingsDirectory[] {
  const { directoryConfigSource, directorySecretSource, directoryArtifactSource, secretOptions } = spec;
  const named = (written: string | undefined, kinds: ReadonlySet<Kind>, ...field: FieldPath): SettingsDirectory[] => {
    if (!written) return [];
    const path = resolve(base, written);
    return [{ path, real: realPathOf(path), kinds, field: ['spec', ...field, 'directory'] }];
  };
  const secrets = secretOptions?.sources?.flatMap(({ directory }, i) =>
    named(directory?.directory, SECRETS, 'secretOptions', 'sources', i, 'directory'),
  );
  return [
    ...named(directoryConfigSource?.directory, CONFIGURATION, 'directoryConfigSource'),
    ...(secrets ?? named(directorySecretSource?.directory, SECRETS, 'directorySecretSource')),
    ...named(directoryArtifactSource?.directory, ARTIFACTS, 'directoryArtifactSource'),
  ];
}

function merged(outer: SettingsDirectory, inner: SettingsDirectory): SettingsDirectory {
  return { ...outer, kinds: new Set([...outer.kinds, ...inner.kinds]) };
}

/** A directory that does not exist has its written path. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function contains(outer: string, path: string): boolean {
  const steps = relative(outer, path);
  return steps === '' || (steps !== '..' && !steps.startsWith(`..${sep}`));
}

/** Returns the documents of a directory; those of kinds that are not read there are replaced by a warning. */
export function readableThere(
  written: readonly WrittenResource[],
  { kinds, field }: SettingsDirectory,
): readonly WrittenResource[] {
  return written.map((document) => {
    const kind = kindOfDocument(document);
    if (kind === undefined || kinds.has(kind)) return document;
    if (document.value === undefined) return withoutIdentity(document);
    const { origin } = document;
    const message = `${kind} is not read from the directory in ${field.filter((step) => step !== 'spec').join('.')}`;
    const issue = { code: 'MISPLACED_RESOURCE', severity: 'warning', origin, path: [], message } as const;
    return { ...document, value: undefined, issues: [issue] };
  });
}
