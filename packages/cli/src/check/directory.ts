import type { Io } from '../io.ts';
import { loadOffline } from '../resources/load.ts';
import { shownProblems } from '../output/problem-lines.ts';
import type { Configuration } from './contract.ts';
import type { CheckFlags } from './input.ts';

/** The configuration of a directory, as a gateway would find it. */
export async function readDirectory(
  io: Io,
  directory: string,
  { resourceNamespaces }: CheckFlags,
): Promise<Configuration> {
  const state = await loadOffline(io, directory);
  return {
    issues: shownProblems(io, state.issues),
    namespaces: resourceNamespaces.length === 0 ? undefined : new Set(resourceNamespaces),
    hasApis: [...state.statuses.keys()].some((key) => key.startsWith('GraphQLApi/')),
  };
}
