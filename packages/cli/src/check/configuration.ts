import { groupByCause, type Problem } from '@edge-gateway/core';
import { cliError } from '../error-codes.ts';
import type { Connection } from '../gateway/connection.ts';
import { readProblemReport, readSnapshot } from '../gateway/pages.ts';
import { count, problemLine, replacedPortsNote, shownProblems } from '../output/problem-lines.ts';
import type { Terminal } from '../output/terminal.ts';
import { loadOffline, objectsOf } from '../resources/load.ts';
import { countResources, noResources } from '../resources/no-resources.ts';
import { items, text, type StatusObject } from '../resources/objects.ts';
import { authServersOf, type AuthServer } from './auth-servers.ts';
import { CHECKS, DOCUMENTS, GRAPHQL_APIS, type Check, type Finding } from './checks.ts';

/** The state of a configuration: of a running gateway or of a directory. */
export interface Configuration {
  /** Every problem, those of excluded checks and other namespaces too. */
  readonly issues: readonly Problem[];
  /** The namespaces that are checked; `undefined` is all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  /** True if there is at least one GraphQLApi. */
  readonly hasApis: boolean;
  /** The servers that AuthConfigs name by their addresses. */
  readonly authServers: readonly AuthServer[];
}

/** The namespaces that the flags of `check` name: that of the gateway, and those to check. */
export interface NamespaceFlags {
  readonly namespace: string;
  readonly resourceNamespaces: readonly string[];
}

/** Reads the configuration of a directory, as a gateway would find it. Throws `ERR_CLI_NOT_FOUND` if it contains nothing to check. */
export async function readDirectory(io: Terminal, directory: string, flags: NamespaceFlags): Promise<Configuration> {
  const state = await loadOffline(io, directory);
  const { issues, statuses, replacedDefaultPorts } = state;
  const note = replacedPortsNote(replacedDefaultPorts);
  if (note !== undefined) io.err(note);
  if (authServersOf(objectsOf(state)).length > 0)
    io.err('Note: the servers of AuthConfigs are not tried, because a directory is checked without a network');
  if (countResources(state) === 0 && !issues.some(({ severity }) => severity === 'error'))
    throw noResources([directory], state);
  return {
    issues: shownProblems(io, issues),
    namespaces: flags.resourceNamespaces.length === 0 ? undefined : new Set(flags.resourceNamespaces),
    hasApis: [...statuses.keys()].some((key) => key.startsWith('GraphQLApi/')),
    authServers: [],
  };
}

/** Reads the configuration of a running gateway. */
export async function readConfiguration(io: Terminal, from: Connection, flags: NamespaceFlags): Promise<Configuration> {
  const { objects } = await readSnapshot(from, 'input');
  const { problems, replacedDefaultPorts } = await readProblemReport(from);
  const note = replacedPortsNote(replacedDefaultPorts, { isRunning: true });
  if (note !== undefined) io.err(note);
  return {
    issues: shownProblems(io, problems),
    namespaces: namespacesOf(objects, flags),
    hasApis: objects.some(({ kind }) => kind === 'GraphQLApi'),
    authServers: authServersOf(objects),
  };
}

/** Returns the namespaces to check; `undefined` is all. Only watched ones are kept. */
export function namespacesOf(objects: readonly StatusObject[], flags: NamespaceFlags): ReadonlySet<string> | undefined {
  const settings = objects.find(
    ({ kind, metadata }) =>
      kind === 'Settings' && metadata.name === 'default' && metadata.namespace === flags.namespace,
  );
  const watched = watchedIn(settings?.spec, flags.namespace);
  if (flags.resourceNamespaces.length === 0) return watched.length > 0 ? new Set(watched) : undefined;
  const asked = flags.resourceNamespaces.filter((name) => watched.length === 0 || watched.includes(name));
  if (asked.length > 0) return new Set(asked);
  const text = `No namespaces specified are currently being watched (defaulting to '${flags.namespace}' namespace)`;
  throw cliError('ERR_CLI_NAMESPACE', text);
}

/** Returns the namespaces that Settings name, with the write namespace and that of the Settings; empty for all. */
function watchedIn(spec: unknown, own: string): readonly string[] {
  const named = items(spec, 'watchNamespaces').map(String);
  if (named.length === 0 || named.includes('')) return [];
  return [...named, own, text(spec, 'discoveryNamespace')].filter(Boolean);
}

/** Returns the problems of the checked namespaces whose checks are not excluded. */
export function printedProblems({ issues, namespaces }: Configuration, exclude: readonly string[]): Problem[] {
  return issues.filter(
    (issue) =>
      (!namespaces || issue.namespace === undefined || namespaces.has(issue.namespace)) &&
      !exclude.includes(checkOf(issue).excludedBy),
  );
}

/** The checks to run, each with the problems that belong to it: one line for each cause. A cause that affects several checks is in each of them. */
export function checksOf(
  printed: readonly Problem[],
  { hasApis }: Configuration,
  exclude: readonly string[],
): ReadonlyMap<Check, readonly Finding[]> {
  const found = new Map<Check, Finding[]>(
    CHECKS.filter(({ excludedBy }) => !exclude.includes(excludedBy)).map((check) => [check, []]),
  );
  const problemsOf = Map.groupBy(printed, checkOf);
  for (const [check, problems] of problemsOf) {
    for (const group of groupByCause(problems)) {
      const isWarning = group.every(({ severity }) => severity === 'warning');
      const line = `${groupLine(group)}${isWarning ? '  [warning]' : ''}`;
      found.get(check)!.push({ line, isWarning });
    }
  }
  if (!hasApis && found.get(GRAPHQL_APIS)?.length === 0) found.delete(GRAPHQL_APIS);
  if (found.get(DOCUMENTS)?.length === 0) found.delete(DOCUMENTS);
  return found;
}

/** Returns how many problems there are, if several have one cause; `undefined` if each has its own. */
export function totalLine({ issues }: Configuration): string | undefined {
  const causes = groupByCause(issues).length;
  if (causes === issues.length) return undefined;
  return `${count(issues.length, 'problem')} in the configuration, with ${count(causes, 'cause')}`;
}

function checkOf({ kind }: Problem): Check {
  return CHECKS.find((check) => check.kind !== undefined && check.kind === kind) ?? DOCUMENTS;
}

const MAX_NAMED = 3;

/** The first problem of a group, and the other resources that have the same cause. */
function groupLine([first, ...others]: readonly [Problem, ...Problem[]]): string {
  const line = problemLine(first);
  const names = [...new Set(others.map(resourceOf))].filter((name) => name !== resourceOf(first));
  if (others.length === 0) return line;
  if (names.length === 0) return `${line}  (and in ${count(others.length, 'more place')})`;
  const rest = names.length - MAX_NAMED;
  return `${line}  (also ${names.slice(0, MAX_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''})`;
}

const resourceOf = ({ kind, namespace, name }: Problem): string =>
  `${kind ?? 'document'} ${namespace ?? ''}/${name ?? ''}`;
