import type { Io } from '../io.ts';
import { loadOffline } from '../offline.ts';
import { shownProblems } from '../problems.ts';
import { problemLine, validationOf } from '../validation.ts';
import { RESOURCE_CHECKS } from './checks.ts';
import type { CheckFlags } from './input.ts';
import type { CheckResult } from './report.ts';

/** What is left when nothing runs: documents that are no resource, and kinds that have no check of their own. */
const OTHERS = { name: 'Documents', excludedBy: 'documents' };

/**
 * Runs the checks of resources on a directory, as a gateway would find them; each problem with file, line and field.
 * A warning is a problem, as it is of a running gateway.
 */
export async function checkDirectory(
  io: Io,
  directory: string,
  { exclude, resourceNamespaces }: CheckFlags,
): Promise<CheckResult[]> {
  const state = await loadOffline(io, directory);
  const problems = shownProblems(io, validationOf(state).problems);
  const hasApis = [...state.statuses.keys()].some((key) => key.startsWith('GraphQLApi/'));
  const checks = RESOURCE_CHECKS.filter(
    ({ kind, excludedBy }) => !exclude.includes(excludedBy) && (hasApis || kind !== 'GraphQLApi'),
  );
  const inScope = problems.filter(
    ({ namespace }) =>
      resourceNamespaces.length === 0 || namespace === undefined || resourceNamespaces.includes(namespace),
  );
  const kinds = new Set(RESOURCE_CHECKS.map(({ kind }) => kind as string | undefined));
  const results = checks.map(({ name, kind }) => ({
    name,
    problems: inScope.filter((issue) => issue.kind === kind).map(problemLine),
  }));
  const others = inScope.filter((issue) => !kinds.has(issue.kind)).map(problemLine);
  return others.length > 0 && !exclude.includes(OTHERS.excludedBy)
    ? [...results, { name: OTHERS.name, problems: others }]
    : results;
}
