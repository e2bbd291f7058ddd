import {
  formatPath,
  keyOf,
  type ControlPlaneState,
  type Kind,
  type Problem,
  type ResourceRef,
  type Snapshot,
} from '@edge-gateway/core';
import { isBroken, routeKey } from './predict-served.ts';

type Route = Snapshot['listeners'][number]['virtualHosts'][number]['routes'][number];

/** What a gateway would serve, and the planned resources. */
export interface Outcome {
  readonly state: ControlPlaneState;
  readonly snapshots: readonly Snapshot[];
  /** The problems of the running gateway. */
  readonly known: readonly Problem[];
}

/** Returns the problems; those of broken references state whether a last good version stays in use. */
export function withOutcomes(problems: readonly Problem[], outcome: Outcome): Problem[] {
  const statesOutcome = ({ message, effect }: Problem) =>
    effect === 'keeps-last-good' || / the route answers \d/.test(message);
  return problems.map((problem) => {
    if (problem.code !== 'MISSING_REFERENCE' || statesOutcome(problem)) return problem;
    const [isKept, kept, none] = outcomeOf(problem, outcome);
    const text = `; ${isKept ? kept : none}`;
    const end = problem.message.search(/\. Route Name: |$/);
    const message = problem.message.slice(0, end) + text + problem.message.slice(end);
    return { ...problem, message, ...(isKept && { effect: 'keeps-last-good' as const }) };
  });
}

type OutcomeText = readonly [isKept: boolean, kept: string, none: string];

/** Returns whether the last good version of a broken reference stays in use, and the texts for both. */
function outcomeOf(problem: Problem, { state, snapshots, known }: Outcome): OutcomeText {
  const path = problem.path.join('.');
  const served = routesOf(snapshots);
  const broken = routesOf([...state.snapshots.values()]).filter((route) => isBehind(problem, route));
  if (broken.length > 0) {
    const keys = new Set(broken.map(routeKey));
    const isKept = served.filter((route) => keys.has(routeKey(route))).every(({ action }) => !isBroken(action));
    return [isKept, 'the route keeps its last good destination', 'the route has no last good destination'];
  }
  const isKept = isServed(problem, snapshots) ?? false;
  if (path.includes('delegateAction')) return [false, '', 'there is no last good route table'];
  if (path.includes('optionsConfigRefs'))
    return [keepsOptions(problem, known), 'its last good options stay in force', 'there are no last good options'];
  if (path.includes('sslConfig'))
    return [isKept, 'the last good sslConfig stays in use', 'there is no last good sslConfig'];
  const kind = problem.kind ?? 'resource';
  return [isKept, `the ${kind} keeps its last good version`, `the ${kind} has no last good version`];
}

/** Returns whether the running gateway has the same problem, and keeps the last good options of the reference. */
function keepsOptions({ kind, namespace, name, cause, path }: Problem, known: readonly Problem[]): boolean {
  const same = known.find(
    (one) =>
      [one.kind, one.namespace, one.name, one.cause].join() === [kind, namespace, name, cause].join() &&
      formatPath(one.path) === formatPath(path),
  );
  return same?.effect === 'keeps-last-good';
}

function routesOf(snapshots: readonly Snapshot[]): Route[] {
  return snapshots.flatMap(({ listeners }) =>
    listeners.flatMap(({ virtualHosts }) => virtualHosts.flatMap(({ routes }) => routes)),
  );
}

/** Returns true if the broken reference of a problem is one of a planned route. */
function isBehind(problem: Problem, { source, action }: Route): boolean {
  const broken = action.type === 'forward' ? action.destinations.map((one) => one.broken) : [action];
  const reasons = broken.flatMap((one) => (one && 'reason' in one && one.reason) || []);
  const isOwn = isRef(problem, source) && source.kind === problem.kind;
  return isOwn && reasons.some((reason) => problem.message.includes(reason));
}

const isRef = (one: { readonly name?: string; readonly namespace?: string }, ref: ResourceRef): boolean =>
  one.name === ref.name && one.namespace === ref.namespace;

/** Returns whether a resource is part of what is served; `undefined` for kinds that are in no snapshot. */
function isServed(resource: Problem, snapshots: readonly Snapshot[]): boolean | undefined {
  const listeners = snapshots.flatMap((snapshot) => snapshot.listeners);
  const hosts = listeners.flatMap(({ virtualHosts }) => virtualHosts);
  const refs: Partial<Record<string, () => readonly ResourceRef[]>> = {
    VirtualService: () => hosts.map(({ virtualService }) => virtualService),
    RouteTable: () => routesOf(snapshots).map(({ source }) => source),
    AuthConfig: () => hosts.flatMap(({ authConfigs }) => authConfigs.map(({ ref }) => ref)),
    RateLimitConfig: () => hosts.flatMap(({ rateLimitConfigs }) => rateLimitConfigs?.map(({ ref }) => ref) ?? []),
    GraphQLApi: () => hosts.flatMap(({ graphqlApis }) => graphqlApis.map(({ ref }) => ref)),
    Upstream: () => snapshots.flatMap(({ upstreams }) => upstreams.map(({ ref }) => ref)),
  };
  return refs[resource.kind ?? '']?.().some((ref) => isRef(resource, ref));
}

/**
 * Returns what stays in use in spite of the problems, as a sentence; empty if nothing does. `offline` is the directory alone.
 * A reference to a missing resource rejects nothing, although `diff` counts it as an error.
 */
export function keptSentence(outcome: Outcome, offline: ControlPlaneState, problems: readonly Problem[]): string {
  const rejected = outcome.state.issues.filter(({ severity }) => severity === 'error');
  if (rejected.length > 0) {
    const resources = new Map(rejected.map((issue) => [idOfProblem(issue), issue]));
    const kept = [...resources.values()].filter((issue) => keepsVersion(issue, outcome, offline)).length;
    if (kept === 0) return '';
    if (kept === resources.size) return ' Rejected resources keep their last good version, as in a running gateway.';
    return ` ${kept} of ${resources.size} rejected resources ${kept === 1 ? 'keeps its' : 'keep their'} last good version, as in a running gateway.`;
  }
  const broken = problems.filter(({ code }) => code === 'MISSING_REFERENCE');
  const kept = broken.filter(({ effect }) => effect === 'keeps-last-good').length;
  if (kept === 0) return '';
  if (broken.length > 1)
    return ` ${kept} of ${broken.length} broken references ${kept === 1 ? 'keeps' : 'keep'} what was last good, as in a running gateway.`;
  const isRoute = broken[0]!.message.includes('the route keeps its last good destination');
  return ` ${isRoute ? 'The route keeps its last good destination' : 'The last good version stays in use'}, as in a running gateway.`;
}

/** Returns the key of the resource with a problem; that of its file if the resource is not known. */
function idOfProblem({ kind, namespace = '', name, origin }: Problem): string {
  return kind && name ? keyOf(kind as Kind, { namespace, name }) : origin.file;
}

/** Returns whether the last good version of a rejected resource, or of what is in an unreadable file, stays in use. */
function keepsVersion(issue: Problem, { state, snapshots }: Outcome, offline: ControlPlaneState): boolean {
  const { resources } = state;
  const id = idOfProblem(issue);
  if (id === issue.origin.file) return [...resources.keys()].some((key) => !offline.resources.has(key));
  return [...resources.keys()].some((key) => key === id) && (isServed(issue, snapshots) ?? true);
}
