import { groupByCause, type Problem } from '@edge-gateway/core';
import { count } from '../output/problem-lines.ts';
import { problemLine } from '../resources/validation.ts';
import type { Check, Configuration } from './contract.ts';
import { CHECKS, DOCUMENTS, GRAPHQL_APIS } from './checks.ts';
import type { CheckResult } from './report.ts';

/** Most resources that one problem names beside the first. */
const MAX_NAMED = 3;

/** Returns the problems of the checked namespaces whose checks are not excluded. */
export function printedProblems({ issues, namespaces }: Configuration, exclude: readonly string[]): Problem[] {
  return issues.filter(
    (issue) =>
      (!namespaces || issue.namespace === undefined || namespaces.has(issue.namespace)) &&
      !exclude.includes(checkOf(issue).excludedBy),
  );
}

/** The checks to run, each with the problems of the configuration that belong to it: one line for each cause. */
export function checksOf(
  configuration: Configuration,
  exclude: readonly string[],
): ReadonlyMap<Check, readonly string[]> {
  const { hasApis } = configuration;
  const found = new Map<Check, string[]>(
    CHECKS.filter(({ excludedBy }) => !exclude.includes(excludedBy)).map((check) => [check, []]),
  );
  for (const group of groupByCause(printedProblems(configuration, exclude)))
    found.get(checkOf(group[0]))!.push(groupLine(group));
  if (!hasApis && found.get(GRAPHQL_APIS)?.length === 0) found.delete(GRAPHQL_APIS);
  if (found.get(DOCUMENTS)?.length === 0) found.delete(DOCUMENTS);
  return found;
}

/** The results of the checks of resources, which need no running gateway. */
export function configurationResults(configuration: Configuration, exclude: readonly string[]): CheckResult[] {
  return [...checksOf(configuration, exclude)].flatMap(([{ name, kind }, problems]) =>
    kind !== undefined || problems.length > 0 ? [{ name, problems }] : [],
  );
}

/** Returns how many problems there are, when several have one cause; `undefined` when each has its own. */
export function totalLine({ issues }: Configuration): string | undefined {
  const causes = groupByCause(issues).length;
  if (causes === issues.length) return undefined;
  return `${count(issues.length, 'problem')} in the configuration, with ${count(causes, 'cause')}`;
}

function checkOf({ kind }: Problem): Check {
  return CHECKS.find((check) => check.kind !== undefined && check.kind === kind) ?? DOCUMENTS;
}

/** The first problem of a group, and the other resources that have the same cause. */
function groupLine([first, ...others]: readonly [Problem, ...Problem[]]): string {
  const line = problemLine(first);
  const own = resourceOf(first);
  const names = [...new Set(others.map(resourceOf))].filter((name) => name !== own);
  if (others.length === 0) return line;
  if (names.length === 0) return `${line}  (and in ${others.length} more ${others.length === 1 ? 'place' : 'places'})`;
  const shown = names.slice(0, MAX_NAMED).join(', ');
  const rest = names.length - MAX_NAMED;
  return `${line}  (also ${shown}${rest > 0 ? ` and ${rest} more` : ''})`;
}

const resourceOf = ({ kind, namespace, name }: Problem): string =>
  `${kind ?? 'document'} ${namespace ?? ''}/${name ?? ''}`;
