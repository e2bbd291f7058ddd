import { DEFAULT_NAMESPACE } from '@edge-gateway/core';
import type { Connection } from '../gateway/connection.ts';
import { cliError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { items, type StatusObject } from '../resources/objects.ts';
import { shownProblems } from '../output/problem-lines.ts';
import { readSnapshot } from '../resources/read-objects.ts';
import { readProblems } from '../gateway/read-problems.ts';
import type { CheckInput, RunningComponent } from './contract.ts';
import { readComponents } from './components.ts';
import { printedProblems } from './configuration.ts';

/** What the flags of `check` ask for. */
export interface CheckFlags {
  readonly namespace: string;
  readonly resourceNamespaces: readonly string[];
  readonly exclude: readonly string[];
  readonly podSelector: string;
  readonly readOnly: boolean;
}

/** Reads the input of the checks. A gateway that does not respond is an error; a missing list of components is not. */
export async function readInput(io: Io, connection: Connection, flags: CheckFlags): Promise<Omit<CheckInput, 'note'>> {
  const { objects } = await readSnapshot(connection, 'input');
  const configuration = {
    issues: shownProblems(io, await readProblems(connection)),
    namespaces: namespacesOf(objects, flags),
    hasApis: objects.some(({ kind }) => kind === 'GraphQLApi'),
  };
  const { readOnly, podSelector, exclude } = flags;
  const printed = printedProblems(configuration, exclude);
  const components = await componentsOf(connection, flags);
  return { configuration, printed, components, connection, readOnly, podSelector, excluded: new Set(exclude) };
}

/** Returns the namespaces to check; `undefined` is all. Only watched ones are kept. */
function namespacesOf(objects: readonly StatusObject[], flags: CheckFlags): ReadonlySet<string> | undefined {
  const settings = objects.find(({ kind, metadata }) => kind === 'Settings' && metadata.name === 'default');
  const watched = items(settings?.spec, 'watchNamespaces').map(String).filter(Boolean);
  if (flags.resourceNamespaces.length === 0) return watched.length > 0 ? new Set(watched) : undefined;
  const asked = flags.resourceNamespaces.filter((name) => watched.length === 0 || watched.includes(name));
  if (asked.length > 0) return new Set(asked);
  const text = `No namespaces specified are currently being watched (defaulting to '${flags.namespace}' namespace)`;
  throw cliError('ERR_CLI_NAMESPACE', text);
}

async function componentsOf(connection: Connection, flags: CheckFlags): Promise<RunningComponent[] | undefined> {
  if (flags.namespace !== DEFAULT_NAMESPACE) return [];
  try {
    return readComponents(await connection.control('/components'));
  } catch {
    return undefined;
  }
}
