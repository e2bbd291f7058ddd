import { readFileSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import {
  formatPath,
  keyOf,
  parseDocuments,
  printable,
  type ControlPlaneState,
  type Kind,
  type Problem,
  type ResourceKey,
  type SourceChange,
} from '@edge-gateway/core';
import { cliError, fileError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { problemLine, shownProblems, validationOf } from '../output/problem-lines.ts';
import type { Terminal } from '../output/terminal.ts';
import { loadWritten, readWritten } from '../resources/load.ts';
import { dig, idOf } from '../resources/objects.ts';
import { withLock } from './lock.ts';
import { PRIVATE, replaceFile } from './replace-file.ts';
import { ResourceFile, type EditedResource, type Identity } from './resource-file.ts';

/** The flags of every command that changes a directory. */
export interface ChangeFlags {
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** The files of a directory with the pending changes of a command. Nothing is written before the change is complete. */
export interface DirectoryDraft {
  /** The directory before the change. */
  readonly before: ControlPlaneState;
  /** Kind, namespace and name of every resource in the files, including rejected ones. */
  readonly identities: readonly Identity[];
  /** Returns a resource to change. Throws `ERR_CLI_NOT_FOUND`. */
  edit(identity: Identity): EditedResource;
  /**
   * Adds a resource in a file of its own, readable by the owner only; returns the name of the file. Throws `ERR_CLI_EXISTS` if
   * the file exists, unless it is to be overwritten, and if another file contains the resource.
   */
  add(key: ResourceKey, content: { readonly text: string; readonly overwrite?: boolean }): string;
  /** Removes a resource, and its file if that is then empty. */
  remove(identity: Identity): void;
}

/** Which problems a change may add. */
export interface Tolerance {
  /** References to missing resources are only warnings. */
  readonly missingReferences?: boolean;
}

/** The result of a change. */
export interface ChangeResult<T> {
  readonly result: T;
  /** The directory after the change. */
  readonly state: ControlPlaneState;
}

/** Returns the directory that a call writes to. */
export function directoryOf(io: Io, { config }: ChangeFlags): string {
  const directory = config ?? io.env['GATEWAY_CONFIG'];
  if (directory) return directory;
  throw cliError('ERR_CLI_USAGE', 'pass --config DIR to name the directory of the resources');
}

/**
 * Changes resources of a directory under a lock; each file is replaced atomically. A change that adds an error, or leaves an error in a
 * changed resource, is not written and throws `ERR_CLI_REJECTED`; with `--force` the problems are printed
 * to standard error. With `--dry-run` nothing is written.
 */
export async function changeDirectory<T>(
  io: Terminal,
  flags: ChangeFlags,
  change: (draft: DirectoryDraft) => Promise<T> | T,
  tolerance: Tolerance = {},
): Promise<ChangeResult<T>> {
  const directory = directoryOf(io, flags);
  const work = async (): Promise<ChangeResult<T>> => {
    const written = await readWritten(io, directory);
    const before = await loadWritten(io, directory, written);
    const draft = new Draft(io, directory, { before, written });
    const result = await change(draft);
    const changed = draft.changedFiles();
    const state = await loadWritten(io, directory, draft.writtenAfter(changed));
    report(io, flags, addedProblems(before, state, { touched: draft.touched, tolerance }));
    if (flags.dryRun !== true) for (const file of changed) draft.write(file);
    return { result, state };
  };
  // A dry run needs no lock, and the directory may be read-only.
  return flags.dryRun ? work() : withLock(io, directory, work);
}

/** Reads a directory for a dry run. */
export async function readDraft(io: Io, flags: ChangeFlags): Promise<DirectoryDraft> {
  const directory = directoryOf(io, flags);
  const written = await readWritten(io, directory);
  return new Draft(io, directory, { before: await loadWritten(io, directory, written), written });
}

/** `text` is `undefined` if the file is removed. */
interface ChangedFile {
  readonly path: string;
  readonly text: string | undefined;
}

interface DraftFile {
  readonly file: ResourceFile;
  /** As read; `undefined` for a new file. */
  readonly text: string | undefined;
  isRemoved: boolean;
  /** Created for one resource; other users must not read it. */
  readonly isOwn?: boolean;
}

class Draft implements DirectoryDraft {
  readonly before: ControlPlaneState;
  readonly identities: readonly Identity[];
  readonly touched = new Set<ResourceKey>();
  readonly #io: Io;
  readonly #directory: string;
  readonly #written: SourceChange;
  readonly #files = new Map<string, DraftFile>();
  /** The files of a resource, by `Kind/namespace/name`. */
  readonly #filesOf = new Map<string, readonly string[]>();

  constructor(
    io: Io,
    directory: string,
    { before, written }: { readonly before: ControlPlaneState; readonly written: SourceChange },
  ) {
    this.#io = io;
    this.#directory = directory;
    this.#written = written;
    this.before = before;
    for (const [path, documents] of written)
      for (const { value, issues } of documents) {
        const id = idOf(value) ?? brokenId(issues);
        if (id !== undefined) this.#filesOf.set(id, [...(this.#filesOf.get(id) ?? []), path]);
      }
    this.identities = [...this.#filesOf.keys()].map((id) => {
      const [kind, namespace, name] = id.split('/') as [string, string, string];
      return { kind, namespace, name };
    });
  }

  edit(identity: Identity): EditedResource {
    const { file, path } = this.#open(identity);
    const found = file.find(identity);
    if (found) return found;
    throw cliError('ERR_CLI_NOT_FOUND', `${path} does not contain ${shownIdentity(identity)}`);
  }

  add(key: ResourceKey, { text, overwrite = false }: { readonly text: string; readonly overwrite?: boolean }): string {
    const shown = join(this.#directory, `${key.replaceAll('/', '-').toLowerCase()}.yaml`);
    const path = resolve(this.#io.cwd, shown);
    this.#rejectOther(key, path);
    const known = readIfPresent(path, shown);
    if (known !== undefined && !overwrite)
      throw cliError('ERR_CLI_EXISTS', `${shown} already exists; use --force to overwrite it`);
    const file = new ResourceFile(text, path);
    this.#files.set(path, { file, text: known, isRemoved: false, isOwn: true });
    this.#filesOf.set(key, [path]);
    this.touched.add(key);
    return shown;
  }

  /** Rejects a resource that another file contains. */
  #rejectOther(key: ResourceKey, path: string): void {
    const other = this.#filesOf.get(key)?.find((each) => each !== path);
    if (other === undefined) return;
    const origin = this.before.resources.get(key)?.origin;
    const line = origin?.file === other ? `:${origin.line}` : '';
    const text = `${this.#shown(other)}${line} already contains a resource with this kind and name`;
    throw cliError('ERR_CLI_EXISTS', text);
  }

  remove(identity: Identity): void {
    const { entry } = this.#open(identity);
    if (!entry.file.find(identity)) throw cliError('ERR_CLI_NOT_FOUND', `${shownIdentity(identity)} cannot be found`);
    entry.isRemoved = !entry.file.remove(identity);
  }

  changedFiles(): ChangedFile[] {
    return [...this.#files].flatMap(([path, { file, text, isRemoved }]): ChangedFile[] => {
      const after = isRemoved ? undefined : file.toText();
      return after === text ? [] : [{ path, text: after }];
    });
  }

  writtenAfter(changed: readonly ChangedFile[]): SourceChange {
    const after = new Map(this.#written);
    for (const { path, text } of changed) {
      if (text === undefined) after.delete(path);
      else after.set(path, parseDocuments(text, path));
    }
    return after;
  }

  /** Writes a file, unless another program has changed it in the meantime. */
  write({ path, text }: ChangedFile): void {
    const shown = this.#shown(path);
    const { text: read, isOwn } = this.#files.get(path)!;
    const now = readIfPresent(path, shown);
    if (now !== read) throw cliError('ERR_CLI_LOCKED', `${shown} was changed by another program; try again`);
    if (text !== undefined) replaceFile(path, text, { shown, ...(isOwn && { mode: PRIVATE }) });
    else rmSync(path);
  }

  #open(identity: Identity): { entry: DraftFile; file: ResourceFile; path: string } {
    const id = `${identity.kind}/${identity.namespace}/${identity.name}` as ResourceKey;
    const paths = this.#filesOf.get(id) ?? [];
    if (paths.length === 0) throw cliError('ERR_CLI_NOT_FOUND', `${shownIdentity(identity)} not found`);
    if (paths.length > 1) {
      const places = paths.map((path) => this.#shown(path)).join(' and ');
      throw cliError('ERR_CLI_EXISTS', `${shownIdentity(identity)} exists more than once: in ${places}`);
    }
    const [path] = paths as [string];
    this.touched.add(id);
    const known = this.#files.get(path);
    if (known) return { entry: known, file: known.file, path: this.#shown(path) };
    this.#rejectBroken(path);
    const text = readIfPresent(path, this.#shown(path)) ?? '';
    const entry: DraftFile = { file: new ResourceFile(text, path), text, isRemoved: false };
    this.#files.set(path, entry);
    return { entry, file: entry.file, path: this.#shown(path) };
  }

  /** A file with a syntax error cannot be rewritten. */
  #rejectBroken(path: string): void {
    const problems = this.#written.get(path)!.flatMap(({ issues }) => issues);
    const [broken] = shownProblems(
      this.#io,
      problems.filter(({ severity, code }) => severity === 'error' && code !== 'NOT_AN_OBJECT'),
    );
    if (broken) throw cliError('ERR_CLI_FILE', `the file cannot be changed: ${problemLine(broken)}`);
  }

  #shown(path: string): string {
    const shown = relative(this.#io.cwd, path);
    return shown.startsWith('..') ? path : shown;
  }
}

/** Kind, namespace and name of a document that does not parse. */
function brokenId(issues: readonly Problem[]): string | undefined {
  const [{ kind, namespace, name } = {} as Partial<Problem>] = issues;
  return kind && name ? `${kind}/${namespace}/${name}` : undefined;
}

function readIfPresent(path: string, shown: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fileError(shown, error);
  }
}

/** `Kind namespace/name`. */
export const shownIdentity = ({ kind, namespace, name }: Identity): string => `${kind} ${namespace}/${name}`;

interface Added {
  readonly errors: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Returns the problems that a change adds, and every error of the resources that it touches. */
function addedProblems(
  before: ControlPlaneState,
  after: ControlPlaneState,
  { touched, tolerance }: { readonly touched: ReadonlySet<ResourceKey>; readonly tolerance: Tolerance },
): Added {
  const known = new Map<string, number>();
  for (const problem of before.issues) known.set(problemKey(problem), (known.get(problemKey(problem)) ?? 0) + 1);
  const isTouched = ({ kind, namespace, name }: Problem): boolean =>
    touched.has(`${kind}/${namespace}/${name}` as ResourceKey);
  const added = after.issues.filter((problem) => {
    const key = problemKey(problem);
    const count = known.get(key) ?? 0;
    known.set(key, count - 1);
    return count <= 0 || (problem.severity === 'error' && isTouched(problem));
  });
  const rated = validationOf({ issues: added });
  const isTolerated = (problem: Problem) =>
    tolerance.missingReferences === true && problem.code === 'MISSING_REFERENCE';
  const isError = (problem: Problem) => problem.severity === 'error' && !isTolerated(problem);
  return { errors: rated.filter(isError), warnings: rated.filter((problem) => !isError(problem)) };
}

/** Identifies a problem before and after a change, which may move lines and list elements. */
function problemKey({ code, kind, namespace, name, path, message }: Problem): string {
  const where = formatPath(path).replaceAll(/\[\d+\]/g, '[]');
  return JSON.stringify([code, kind, namespace, name, where, message.replaceAll(/<unnamed-\d+>/g, '<unnamed>')]);
}

function report(io: Terminal, { force }: ChangeFlags, { errors, warnings }: Added): void {
  for (const problem of shownProblems(io, [...warnings, ...(force ? errors : [])]))
    io.err(io.colors.yellow(`Warning: ${printable(problemLine(problem))}`));
  if (force || errors.length === 0) return;
  const lines = shownProblems(io, errors).map((problem) => `\t* ${problemLine(problem)}`);
  const text = ['the change was not written, because it would be rejected (--force writes it):', ...lines].join('\n');
  throw cliError('ERR_CLI_REJECTED', text);
}

/** Returns a field of a resource as it is served after a change. */
export function servedField(state: ControlPlaneState, { kind, namespace, name }: Identity, ...path: string[]): unknown {
  return dig(state.resources.get(keyOf(kind as Kind, { namespace, name })), ...path);
}
