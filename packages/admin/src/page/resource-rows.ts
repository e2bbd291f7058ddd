import {
  formatPath,
  keyOf,
  STATES,
  type ControlPlaneState,
  type Kind,
  type Problem,
  type Origin,
  type ResourceKey,
  type State,
} from '@edge-gateway/core';
import type { Tone } from './table.ts';

/** A resource in the list. */
export interface ResourceRow {
  readonly key: ResourceKey;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly state: State;
  /** The reasons, by controller. */
  readonly reasons: readonly string[];
  /** Source position; missing if the gateway created it. */
  readonly origin: Origin | undefined;
  readonly problems: readonly Problem[];
  /** False if no version of it was ever valid. */
  readonly isInUse: boolean;
  /** Lower case. */
  readonly text: string;
}

/** States, worst first. */
const WORST: readonly State[] = ['Rejected', 'Warning', 'Pending', 'Accepted'];

/** Appearance of the states. */
export const TONES: Readonly<Record<State, Tone>> = {
  Rejected: 'bad',
  Warning: 'warning',
  Pending: 'neutral',
  Accepted: 'good',
};

/** Returns every resource: the worst states first, then by kind, namespace and name. */
export function resourceRows(state: ControlPlaneState): ResourceRow[] {
  const problems = Map.groupBy(state.issues, keyOfProblem);
  const keys = [...new Set([...state.resources.keys(), ...state.statuses.keys()])].sort();
  const rows = keys.map((key) => rowOf(key, state, problems.get(key) ?? []));
  return rows.sort((a, b) => rankOf(a.state) - rankOf(b.state));
}

function rowOf(
  key: ResourceKey,
  { resources, statuses }: ControlPlaneState,
  problems: readonly Problem[],
): ResourceRow {
  const { kind, namespace, name } = partsOf(key);
  const resource = resources.get(key);
  const reports = Object.values(statuses.get(key)?.statuses ?? {});
  // Kinds without a status are in use if they are valid.
  const states = reports.length > 0 ? reports.map((report) => report.state) : [resource ? 'Accepted' : 'Rejected'];
  const origin = kind === 'Proxy' ? undefined : (resource?.origin ?? problems[0]?.origin);
  const written = [kind, namespace, name, origin?.file, ...Object.entries(resource?.metadata.labels ?? {}).flat()];
  return {
    key,
    kind,
    namespace,
    name,
    state: WORST.find((each) => states.includes(each)) ?? 'Pending',
    reasons: reports.flatMap(({ reason, messages = [] }) => [...(reason ? [reason] : []), ...messages]),
    origin,
    problems,
    isInUse: resource !== undefined,
    text: [...written, ...problems.map(({ message }) => message)].join(' ').toLowerCase(),
  };
}

/** Accepted and pending resources have the same appearance. */
function rankOf(state: State): number {
  return Math.min(WORST.indexOf(state), 2);
}

/** Returns kind, namespace and name of a key. */
export function partsOf(key: ResourceKey): {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
} {
  const [kind = '', namespace = '', name = ''] = key.split('/');
  return { kind, namespace, name };
}

function keyOfProblem({ kind, namespace = '', name = '' }: Problem): ResourceKey | '' {
  return kind ? keyOf(kind as Kind, { namespace, name }) : '';
}

/** Returns how many resources are in each state. */
export function countStates(rows: readonly ResourceRow[]): Readonly<Record<State, number>> {
  const counts = Object.fromEntries(STATES.map((each) => [each, 0])) as Record<State, number>;
  for (const { state } of rows) counts[state]++;
  return counts;
}

/** Returns a problem as one text: field, message and hint. */
export function problemText({ path, message, hint }: Problem): string {
  const field = formatPath(path);
  return `${field && `${field}: `}${message}${hint ? ` (${hint})` : ''}`;
}
