import {
  parseDocuments,
  type ControlPlaneState,
  type Problem,
  type ResourceKey,
  type SourceChange,
} from '@edge-gateway/core';
import { cliError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { problemLine, shownProblems } from '../output/problem-lines.ts';
import { idOf } from '../resources/objects.ts';
import { ResourceFile, type EditedResource, type Identity } from './resource-file.ts';
import type { ChangedUnit, ResourceStorage } from './resource-storage.ts';

/** The resources of a directory or a cluster with the pending changes of a command. Nothing is written before the change is complete. */
export interface ResourceDraft {
  /** The resources before the change. */
  readonly before: ControlPlaneState;
  /** Kind, namespace and name of every resource, including rejected ones. */
  readonly identities: readonly Identity[];
  /** Returns a resource to change. Throws `ERR_CLI_NOT_FOUND`. */
  edit(identity: Identity): EditedResource;
  /**
   * Adds a resource, in a directory in a file of its own that is readable by the owner only; returns where. Throws `ERR_CLI_EXISTS` if
   * it exists, unless it is to be overwritten, and if another file contains the resource.
   */
  add(key: ResourceKey, content: { readonly text: string; readonly overwrite?: boolean }): string;
  /** Removes a resource, and its file if that is then empty. */
  remove(identity: Identity): void;
}

interface DraftUnit {
  readonly file: ResourceFile;
  /** As read; `undefined` for a new one. */
  readonly text: string | undefined;
  isRemoved: boolean;
  /** Created for one resource; other users must not read it. */
  readonly isOwn?: boolean;
}

/** A draft of what a storage contains, with the units that it changes. */
export class Draft implements ResourceDraft {
  readonly before: ControlPlaneState;
  readonly identities: readonly Identity[];
  readonly touched = new Set<ResourceKey>();
  readonly #io: Io;
  readonly #storage: ResourceStorage;
  readonly #written: SourceChange;
  readonly #units = new Map<string, DraftUnit>();
  /** The units of a resource, by `Kind/namespace/name`. */
  readonly #unitsOf = new Map<string, readonly string[]>();

  constructor(
    io: Io,
    storage: ResourceStorage,
    { before, written }: { readonly before: ControlPlaneState; readonly written: SourceChange },
  ) {
    this.#io = io;
    this.#storage = storage;
    this.#written = written;
    this.before = before;
    for (const [path, documents] of written)
      for (const { value, issues } of documents) {
        const id = idOf(value) ?? brokenId(issues);
        if (id !== undefined) this.#unitsOf.set(id, [...(this.#unitsOf.get(id) ?? []), path]);
      }
    this.identities = [...this.#unitsOf.keys()].map((id) => {
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
    const path = this.#storage.sourceKeyOf(key);
    this.#rejectOther(key, path);
    const known = this.#storage.textOf(path);
    if (known !== undefined && !overwrite)
      throw cliError('ERR_CLI_EXISTS', `${this.#shown(path)} already exists; use --force to overwrite it`);
    const file = new ResourceFile(text, path);
    this.#units.set(path, { file, text: known, isRemoved: false, isOwn: true });
    this.#unitsOf.set(key, [path]);
    this.touched.add(key);
    return this.#storage.placeOf(path);
  }

  /** Rejects a resource that another file contains. */
  #rejectOther(key: ResourceKey, path: string): void {
    const other = this.#unitsOf.get(key)?.find((each) => each !== path);
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

  changedUnits(): ChangedUnit[] {
    return [...this.#units].flatMap(([unit, { file, text: before, isRemoved, isOwn = false }]): ChangedUnit[] => {
      const text = isRemoved ? undefined : file.toText();
      return text === before ? [] : [{ unit, text, before, isOwn }];
    });
  }

  writtenAfter(changed: readonly ChangedUnit[]): SourceChange {
    const after = new Map(this.#written);
    for (const { unit, text } of changed) {
      if (text === undefined) after.delete(unit);
      else after.set(unit, parseDocuments(text, unit));
    }
    return after;
  }

  #open(identity: Identity): { entry: DraftUnit; file: ResourceFile; path: string } {
    const id = `${identity.kind}/${identity.namespace}/${identity.name}` as ResourceKey;
    const paths = this.#unitsOf.get(id) ?? [];
    if (paths.length === 0) throw cliError('ERR_CLI_NOT_FOUND', `${shownIdentity(identity)} not found`);
    if (paths.length > 1) {
      const places = paths.map((path) => this.#shown(path)).join(' and ');
      throw cliError('ERR_CLI_EXISTS', `${shownIdentity(identity)} exists more than once: in ${places}`);
    }
    const [path] = paths as [string];
    this.touched.add(id);
    const known = this.#units.get(path);
    if (known) return { entry: known, file: known.file, path: this.#shown(path) };
    this.#rejectBroken(path);
    const text = this.#storage.textOf(path) ?? '';
    const entry: DraftUnit = { file: new ResourceFile(text, path), text, isRemoved: false };
    this.#units.set(path, entry);
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
    return this.#storage.shown(path);
  }
}

/** Kind, namespace and name of a document that does not parse. */
function brokenId(issues: readonly Problem[]): string | undefined {
  const [{ kind, namespace, name } = {} as Partial<Problem>] = issues;
  return kind && name ? `${kind}/${namespace}/${name}` : undefined;
}

/** `Kind namespace/name`. */
export const shownIdentity = ({ kind, namespace, name }: Identity): string => `${kind} ${namespace}/${name}`;
