import {
  printable,
  diffSnapshots,
  formatPath,
  isSame,
  type FieldDiff,
  type PartDiff,
  type RouteAction,
  type Snapshot,
  type SnapshotDiff,
  redact,
} from '@edge-gateway/core';
import { count } from '../output/problem-lines.ts';
import type { Colors } from '../output/terminal.ts';
import { changedValues, changeText } from './changed-values.ts';

/** What differs for one proxy. */
export interface ProxyDiff {
  readonly proxy: string;
  readonly diff: SnapshotDiff;
}

/** Compares what two sides serve, proxy by proxy; proxies without differences are left out. Secret values are hidden first. */
export function compareServed(before: readonly Snapshot[], after: readonly Snapshot[]): ProxyDiff[] {
  const [old, now] = [byProxy(before), byProxy(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .sort()
    .map((proxy) => ({ proxy, diff: diffSnapshots(old.get(proxy), now.get(proxy)) }))
    .filter(({ diff }) => !isSame(diff));
}

function byProxy(snapshots: readonly Snapshot[]): Map<string, Snapshot> {
  return new Map(snapshots.map((one) => [one.proxy, jsonOf(one)]));
}

/** Returns a snapshot as JSON, without undefined fields, secret values, and data that only a running gateway has. */
export function jsonOf(snapshot: Snapshot): Snapshot {
  return JSON.parse(JSON.stringify(redact(snapshot), written)) as Snapshot;
}

/** Leaves out the schema that a gateway read from the server of a GraphQLApi: it is not in the resource. */
function written(this: unknown, key: string, value: unknown): unknown {
  const isOfApi = key === 'serverSchema' && 'ref' in (this as object) && 'spec' in (this as object);
  return isOfApi ? undefined : value;
}

const PARTS: readonly [key: keyof SnapshotDiff, noun: string][] = [
  ['listeners', 'listener'],
  ['virtualHosts', 'virtual host'],
  ['routes', 'route'],
  ['upstreams', 'upstream'],
];

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;

/** Every part that differs. */
export function partsOf(diffs: readonly ProxyDiff[]): PartDiff[] {
  return diffs.flatMap(({ diff }) => PARTS.flatMap(([key]) => diff[key]));
}

/** The differences as text: `+` new, `-` gone, `~` changed, then how many. */
export function renderComparison(diffs: readonly ProxyDiff[], colors: Colors): string {
  if (diffs.length === 0) return 'No differences.';
  const paints = { added: colors.green, removed: colors.red, changed: colors.yellow };
  const lines = diffs.flatMap(({ proxy, diff }) => [
    colors.bold(`proxy ${printable(proxy)}`),
    ...PARTS.flatMap(([key, noun]) =>
      diff[key].flatMap(({ change, name, fields }) => [
        paints[change](`${SIGNS[change]} ${noun} ${printable(name)}`),
        ...fields.flatMap(fieldLines).map((line) => `    ${printable(line)}`),
      ]),
    ),
  ]);
  return [...lines, '', summary(partsOf(diffs))].join('\n');
}

const MOST_LINES = 20;

/** What differs in a field: the actions of a route as text, else each changed value within the field. */
function fieldLines({ field, before, after }: FieldDiff): string[] {
  const [was, is] = field === 'action' ? [before, after].map((action) => actionText(action as RouteAction)) : [];
  if (was !== is) return [`${field}: ${changeText(was!, is!)}`];
  const changes = changedValues([field], before, after);
  const lines = changes.map((change) => {
    const [old, now] = [change.before, change.after].map((value) => JSON.stringify(value) ?? 'nothing');
    return `${formatPath(change.path)}: ${changeText(old!, now!)}`;
  });
  const more = lines.length - MOST_LINES;
  return more > 1 ? [...lines.slice(0, MOST_LINES), `… and ${more} more changes of ${field} (-o json)`] : lines;
}

/** What a route does, e.g. `forward to echo_gw-system` or `503 instead of its destination (upstream not found)`. */
function actionText(action: RouteAction): string {
  switch (action.type) {
    case 'forward':
      return `forward to ${action.destinations.map((one) => destinationText(one, action.destinations.length)).join(', ')}`;
    case 'redirect':
      return `redirect ${JSON.stringify(action.redirect)}`;
    case 'direct':
      return `respond with ${action.status}${action.body && ` ${JSON.stringify(action.body)}`}`;
    case 'graphql':
      return `GraphQLApi ${action.api.namespace}.${action.api.name}`;
    case 'replacement':
      return insteadText(action);
  }
}

type Destination = Extract<RouteAction, { type: 'forward' }>['destinations'][number];

function destinationText({ upstream, weight, options, broken }: Destination, count: number): string {
  const share = count > 1 ? ` (weight ${weight})` : '';
  const own = Object.keys(options).length > 0 ? ` with ${JSON.stringify(options)}` : '';
  return `${upstream}${share}${own}${broken ? `: ${insteadText(broken)}` : ''}`;
}

const insteadText = ({ status, body, reason = '' }: { status: number; body: string; reason?: string }): string =>
  `${status} ${JSON.stringify(body)} instead of its destination${reason && ` (${reason})`}`;

function summary(parts: readonly PartDiff[]): string {
  const having = (change: PartDiff['change']) => `${parts.filter((part) => part.change === change).length} ${change}`;
  return `${count(parts.length, 'difference')}: ${having('added')}, ${having('removed')}, ${having('changed')}.`;
}
