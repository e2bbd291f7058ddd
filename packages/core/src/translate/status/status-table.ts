import { keyOf, type Resource, type ResourceKey, type StatusReport } from '../../resource/resource.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { withChanges } from '../../layered-map.ts';
import { kindOf, type Changes } from '../changes.ts';
import type { Derived } from '../derived.ts';
import { dirtyKeys } from './dirty.ts';
import { attachedOptionProblems } from '../listener/attached-options.ts';
import { isRead, type UsedGateway } from '../listener/gateways.ts';
import type { ListenerBuild } from '../listener/listeners.ts';
import type { MissingOptions } from '../listener/missing-options.ts';
import type { Memo } from '../memo.ts';
import { subresourceKey } from '../names.ts';
import { collectProblems, proxyProblems } from './listener-problems.ts';
import { NO_PROBLEMS, statusProblem, type Problems } from './report.ts';
import type { StatusTable, Subresource } from './statuses.ts';
import { statusEntry, type StatusEntry, type StatusInput } from './statuses.ts';
import { sharedOptionProblems } from '../virtual-host/shared-options.ts';
import { missingRateLimitServer } from '../reference/rate-limit-server.ts';
import { settingsKey } from '../translation-settings.ts';
import type { Steps } from '../../time/slices.ts';
import { groupProblems } from '../reference/upstream-groups.ts';
import type { TranslationInput } from '../input.ts';

/** The input of statuses. */
export interface StatusSources {
  readonly input: TranslationInput;
  readonly listeners: ReadonlyMap<string, ListenerBuild>;
  readonly missing: MissingOptions;
  readonly proxies: readonly Resource[];
  readonly changes: Changes | undefined;
  /** True: a changed status of a proxy changes no statuses of its resources. */
  readonly problemsOnly: boolean;
}

export function* statusTable(sources: StatusSources, memo: Memo | undefined): Steps<StatusTable> {
  const { input, listeners, missing, proxies, changes, problemsOnly } = sources;
  const proxyEntries = new Map(proxies.map((proxy) => proxyEntry(proxy, sources, memo)));
  const reports = new Map(
    proxies.map(({ metadata }) => [metadata.name, subresource(metadata, proxyEntries, input.derived)]),
  );
  const subresourcesOf = createSubresourceLists(reports);
  const known =
    memo && changes && isSameInput(input, problemsOnly ? memo.statuses.reports : reports, memo) ? memo : undefined;
  const dirty = known && dirtyKeys({ input, listeners, missing }, known, changes!);
  const found = collectProblems({ listeners: listeners.values(), missing }, dirty);
  const changed = new Map<ResourceKey, StatusEntry | undefined>(known ? [] : proxyEntries);
  const used = new Set(Array.from(listeners.values(), ({ gateway }) => gateway));
  yield;
  for (const key of dirty ?? input.stored.keys()) {
    yield;
    if (proxyEntries.has(key)) continue;
    const stored = input.stored.get(key);
    if (!stored) {
      changed.set(key, undefined);
      continue;
    }
    const own = found.get(key);
    const statusInput: StatusInput = {
      stored,
      problems: own ? sharedEmpty(own.problems) : outside(stored, input, used),
      notes: sharedEmpty(own?.notes ?? NONE),
      subresources: own ? subresourcesOf(own.proxies) : NONE,
    };
    const entry = statusEntry(key, statusInput, memo?.statuses.entries.get(key));
    if (entry !== known?.statuses.entries.get(key)) changed.set(key, entry);
  }
  yield;
  const { entries = NO_ENTRIES, statuses = NO_STATUSES, faulty = NO_ENTRIES } = known?.statuses ?? {};
  return {
    entries: withChanges(entries, changed),
    statuses: withChanges(
      statuses,
      changesOf(changed, (entry) => entry.status),
    ),
    faulty: withChanges(
      faulty,
      changesOf(changed, (entry) => (entry.problems.some((problems) => problems.length > 0) ? entry : undefined)),
    ),
    reports,
  };
}

const NO_ENTRIES: StatusTable['entries'] = new Map();
const NO_STATUSES: StatusTable['statuses'] = new Map();

function changesOf<T>(
  changed: ReadonlyMap<ResourceKey, StatusEntry | undefined>,
  valueOf: (entry: StatusEntry) => T,
): (readonly [ResourceKey, T | undefined])[] {
  return Array.from(changed, ([key, entry]) => [key, entry && valueOf(entry)] as const);
}

/** False if the status of any resource may differ: other settings, or another status of a proxy. */
function isSameInput(input: TranslationInput, reports: ReadonlyMap<string, Subresource>, memo: Memo): boolean {
  return (
    memo.settings === input.settings &&
    memo.statuses.reports.size === reports.size &&
    [...reports].every(([name, report]) => memo.statuses.reports.get(name) === report)
  );
}

const NONE: readonly never[] = [];

/** Most resources have no problems: they share a list. */
function sharedEmpty<T>(list: readonly T[]): readonly T[] {
  return list.length > 0 ? list : NONE;
}

/** Returns the reports of a list of proxies: the same list for the same proxies, because most resources are on one. */
function createSubresourceLists(reports: ReadonlyMap<string, Subresource>) {
  const lists = new Map<string, readonly Subresource[]>();
  return (proxies: readonly string[]): readonly Subresource[] => {
    const key = proxies.join();
    let list = lists.get(key);
    if (!list) lists.set(key, (list = proxies.flatMap((proxy) => (reports.get(proxy) ? [reports.get(proxy)!] : []))));
    return list;
  };
}

/** The status of a resource for one of its proxies; one object per report. */
export function subresource(
  metadata: Resource['metadata'],
  entries: ReadonlyMap<ResourceKey, StatusEntry>,
  derived: Derived,
): Subresource {
  const [report] = Object.values(entries.get(keyOf('Proxy', metadata))!.status.statuses);
  const key = subresourceKey(metadata.name, metadata.namespace);
  return derived.of(keyed, report!, key);
}

function keyed(report: StatusReport, key: string): Subresource {
  return Object.freeze([key, report] as const);
}

function proxyEntry({ metadata }: Resource, { listeners, missing, input }: StatusSources, memo: Memo | undefined) {
  const key = keyOf('Proxy', metadata);
  const problems = proxyProblems(metadata.name, { listeners: listeners.values(), missing }, input.derived);
  const statusInput = { stored: undefined, problems, notes: NONE, subresources: NONE };
  return [key, statusEntry(key, statusInput, memo?.statuses.entries.get(key))] as const;
}

/** Problems of resources outside listeners: upstreams and groups have their own, some kinds are not read. */
function outside(
  stored: StoredResource,
  input: TranslationInput,
  gateways: Iterable<UsedGateway>,
): readonly Problems[] {
  switch (kindOf(stored.key)) {
    case 'Upstream':
      return [input.upstreams.get(stored.key)!.problems];
    case 'UpstreamGroup':
      return groupProblems(stored, input);
    case 'RouteOption':
    case 'VirtualHostOption':
      return withoutEmpty(sharedOptionProblems(stored, input));
    case 'ListenerOption':
    case 'HttpListenerOption':
      return withoutEmpty(attachedOptionProblems(stored, gateways));
    case 'AuthConfig':
      return withoutEmpty(input.authConfigs.get(stored.key)!.problems);
    case 'Settings':
      return settingsProblems(stored, input);
    case 'Gateway':
      return isRead(stored, input.settings) ? NONE : UNREAD_GATEWAY;
    case 'MatchableHttpGateway':
    case 'MatchableTcpGateway':
      return UNSERVED_GATEWAY;
    case 'Proxy':
      return WRITTEN_PROXY;
    default:
      return NONE;
  }
}

/** Only the Settings in use have problems with other resources. */
function settingsProblems({ key }: StoredResource, input: TranslationInput): readonly Problems[] {
  if (key !== settingsKey()) return NONE;
  const found = missingRateLimitServer(input.settings.served.ratelimitServer, input, ['spec', 'ratelimitServer']);
  return found.length === 0 ? NONE : [found.map((problem) => Object.freeze(statusProblem('warning', problem)))];
}

function withoutEmpty(problems: Problems): readonly Problems[] {
  return problems === NO_PROBLEMS ? NONE : [problems];
}

const UNREAD_GATEWAY = warning(
  'the gateway is not read: its namespace is not the one of the gateways, and Settings readGatewaysFromAllNamespaces is not true',
);
const UNSERVED_GATEWAY = warning('no hybrid gateway selects this gateway');
const WRITTEN_PROXY = warning('proxies are written by the gateway, not read');

function warning(message: string): readonly Problems[] {
  return Object.freeze([Object.freeze([Object.freeze(statusProblem('warning', message))])]);
}
