import { keyOf, printable, type ControlPlaneState, type Kind } from '@edge-gateway/core';
import { clusterStorage } from '../cluster/cluster-storage.ts';
import { wantsCluster, type ClusterFlags } from '../cluster/open-cluster.ts';
import { cliError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { problemLine, shownProblems } from '../output/problem-lines.ts';
import type { Terminal } from '../output/terminal.ts';
import { dig } from '../resources/objects.ts';
import { addedProblems, type AddedProblems } from './added-problems.ts';
import { directoryStorage } from './directory-storage.ts';
import { Draft, type ResourceDraft } from './resource-draft.ts';
import type { Identity } from './resource-file.ts';
import type { ResourceStorage, Tolerance } from './resource-storage.ts';

/** The flags of every command that changes resources. */
export interface ChangeFlags extends ClusterFlags {
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** The result of a change. */
export interface ChangeResult<T> {
  readonly result: T;
  /** The resources after the change. */
  readonly state: ControlPlaneState;
}

/** Returns the storage that a call changes: the cluster of `--kubeconfig` or `--kube-context`, else a directory. */
function storageOf(io: Io, flags: ChangeFlags): ResourceStorage {
  if (wantsCluster(flags)) {
    if (flags.config === undefined) return clusterStorage(io, flags);
    throw cliError(
      'ERR_CLI_USAGE',
      '--config names a directory, --kubeconfig and --kube-context a cluster: use one of them',
    );
  }
  const directory = flags.config ?? io.env['GATEWAY_CONFIG'];
  if (directory) return directoryStorage(io, directory);
  throw cliError(
    'ERR_CLI_USAGE',
    'pass --config DIR to name the directory of the resources, or --kube-context NAME for those of a cluster',
  );
}

/**
 * Changes resources of a directory under a lock, or of a cluster; each file or object is replaced as a whole. A change that adds an error, or leaves
 * an error in a changed resource, is not written and throws `ERR_CLI_REJECTED`; with `--force` the problems are printed
 * to standard error. With `--dry-run` nothing is written.
 */
export async function changeResources<T>(
  io: Terminal,
  flags: ChangeFlags,
  change: (draft: ResourceDraft) => Promise<T> | T,
  tolerance: Tolerance = {},
): Promise<ChangeResult<T>> {
  const storage = storageOf(io, flags);
  const work = async (): Promise<ChangeResult<T>> => {
    const written = await storage.read();
    const before = await storage.translate(written);
    const draft = new Draft(io, storage, { before, written });
    const result = await change(draft);
    const changed = draft.changedUnits();
    const state = await storage.translate(draft.writtenAfter(changed));
    const added = addedProblems(before, state, {
      touched: draft.touched,
      tolerance: { ...tolerance, ...storage.tolerance },
    });
    report(io, flags, added);
    if (flags.dryRun !== true) await storage.write(changed);
    return { result, state };
  };
  // A dry run needs no lock, and the directory may be read-only.
  return flags.dryRun ? work() : storage.exclusively(work);
}

/** Reads the resources for a dry run. */
export async function readDraft(io: Io, flags: ChangeFlags): Promise<ResourceDraft> {
  const storage = storageOf(io, flags);
  const written = await storage.read();
  return new Draft(io, storage, { before: await storage.translate(written), written });
}

function report(io: Terminal, { force }: ChangeFlags, { errors, warnings }: AddedProblems): void {
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
