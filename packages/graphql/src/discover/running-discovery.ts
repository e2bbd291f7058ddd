import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  differingKeys,
  grantedHeaderNames,
  keyOf,
  serviceSpecOf,
  typeWithFunctions,
  type CallUpstream,
  type Observed,
  type ObservedProblem,
  type Logger,
  type MemorySource,
  type Resource,
  type ResourceKey,
  type ResourceRef,
  type Secrets,
  type SnapshotUpstream,
} from '@edge-gateway/core';
import type { SettingsSpec, UpstreamSpec } from '@edge-gateway/core/schema';
import { LRUCache } from 'lru-cache';
import { readSchema } from '../schema/read-schema.ts';
import {
  changePolicyOf,
  judgeSchemas,
  SCHEMA_PATH,
  settingsOf,
  changeProblems,
  type Judgement,
} from '../remote/judge-schema.ts';
import { createPoll } from '../remote/poll.ts';
import { discover, OPERATIONS } from './discover.ts';
import type { Discovery, Probe, Skipped } from './discovered-api.ts';
import { createsApis, isEligible, type NamespaceLabels } from './eligible.ts';
import { FUNCTIONS_TYPES, createFunctionsWriter, sourceKeyOf, type FunctionsSink } from './functions-writer.ts';
import { PROBE_TYPES, probeUpstream } from './probe.ts';

/** Options of {@link createDiscovery}. */
export interface DiscoveryOptions {
  readonly callUpstream: CallUpstream;
  /** Returns an upstream of the newest snapshot. */
  readonly findUpstream: (ref: ResourceRef) => SnapshotUpstream | undefined;
  readonly secrets: Secrets;
  /** Receives the generated resources. */
  readonly source: Pick<MemorySource, 'set' | 'delete'>;
  /** Receives the functions of upstreams. Default: they are not discovered. */
  readonly functions?: FunctionsSink;
  /** Returns whether discovery has created a GraphQLApi. Default: if it comes from `source` in memory. */
  readonly isOwn?: (api: Resource, unit: string) => boolean;
  /** Receives changes of the schema of an upstream, e.g. `observe` of a control plane. */
  readonly observe: (key: ResourceKey, observed: Observed | undefined) => void;
  readonly log: Logger;
  /** Polling interval of an upstream in milliseconds. Default 15,000. */
  readonly intervalMs?: number;
}

/** A loop that discovers the functions of upstreams, and creates GraphQLApis of them. */
export interface RunningDiscovery {
  /** Sets the newest resources, and the labels of namespaces. New and changed upstreams are probed at once. */
  update(resources: ReadonlyMap<ResourceKey, Resource>, namespaces?: NamespaceLabels): void;
  /** Probes every upstream now. Resolves when that is done. */
  look(): Promise<void>;
  close(): void;
}

/** Upstreams without a description are probed only in every fourth round. */
const QUIET_ROUNDS = 4;

interface Found {
  /** Hash of its source. */
  readonly digest: string;
  /** Headers that arguments must not set. */
  readonly rules: string;
  readonly type: Probe['type'];
  readonly text: string;
  readonly schema: string;
  readonly refused: boolean;
}

/**
 * Creates the loop that probes upstreams (Settings `discovery`, label `discovery.vendor.io/function_discovery`), reports their functions, and adds
 * a GraphQLApi of the upstream's name to the source. It does not replace a configured GraphQLApi of this name.
 */
export function createDiscovery(options: DiscoveryOptions): RunningDiscovery {
  const { source, log } = options;
  const found = new Map<string, Found>();
  const quiet = new Map<string, number>();
  /** Reported problems of upstreams, each of which is logged once. */
  const reported = new LRUCache<string, true>({ max: 1000 });
  const functions = options.functions && createFunctionsWriter(options.functions, { log, operations: OPERATIONS });
  let upstreams = new Map<string, Resource<UpstreamSpec>>();
  /** Those of `upstreams` that get a GraphQLApi. */
  let withApi: ReadonlySet<string> = new Set();
  let settings: SettingsSpec = {};
  let grantedHeaders: ReadonlySet<string> = new Set();
  const poll = createPoll(ask, () => upstreams.keys(), options.intervalMs);

  async function ask(unit: string): Promise<void> {
    const upstream = upstreams.get(unit);
    if (!upstream || poll.closed) return;
    const rest = quiet.get(unit) ?? 0;
    if (rest > 0) return void quiet.set(unit, rest - 1);
    const reportPath = (path: string, reason: string): void => {
      if (isReportedNow(`${unit} ${path} ${reason}`))
        log.warn({ upstream: upstream.metadata.name, path, reason }, 'skipped');
    };
    const probe = await probeUpstream(upstream, { ...options, reportPath }, typesOf(unit));
    if (poll.closed || !upstreams.has(unit)) return;
    if (!probe) return void (known(unit) ?? quiet.set(unit, QUIET_ROUNDS - 1));
    try {
      const digest = digestOf(probe, rulesOf(grantedHeaders));
      functions?.apply(unit, upstream.metadata, { probe, digest, grantedHeaders });
      if (withApi.has(unit)) await applyProbe(unit, upstream, probe);
    } catch (error) {
      if (!functions?.has(unit)) quiet.set(unit, QUIET_ROUNDS - 1);
      const reason = (error as Error).message;
      if (!isReportedNow(`${unit} ${reason}`)) return;
      const failed = withApi.has(unit)
        ? 'no GraphQLApi can be created from upstream'
        : 'failed to discover functions of upstream';
      log.warn({ upstream: upstream.metadata.name, reason }, failed);
    }
  }

  /** Returns true the first time. */
  function isReportedNow(what: string): boolean {
    if (reported.has(what)) return false;
    reported.set(what, true);
    return true;
  }

  /** Returns the type that an upstream had before. */
  function known(unit: string): Probe['type'] | undefined {
    return found.get(unit)?.type ?? functions?.typeOf(unit);
  }

  /** Servers keep their type; without a GraphQLApi, only types with functions are of use. */
  function typesOf(unit: string): readonly Probe['type'][] {
    const type = known(unit);
    if (type) return [type];
    return withApi.has(unit) ? PROBE_TYPES : FUNCTIONS_TYPES;
  }

  async function applyProbe(unit: string, { metadata }: Resource<UpstreamSpec>, probe: Probe): Promise<void> {
    const granted = grantedHeaders;
    const rules = rulesOf(granted);
    const digest = digestOf(probe, rules);
    const before = found.get(unit);
    // The same source gives the same API; a rejected one may be accepted after a change of the Settings.
    if (before?.digest === digest && !before.refused) return;
    const discovery = discover(metadata, probe, { grantedHeaders: granted });
    const schema = discovery.spec.executableSchema?.schemaDefinition ?? '';
    const text = JSON.stringify(discovery.spec);
    if (before?.text === text && !before.refused) return void found.set(unit, { ...before, digest, rules });
    // An argument that is no longer allowed is removed immediately, whatever the Settings say about breaking changes.
    const judgement = await judge(before?.rules === rules ? before.schema : undefined, schema, settings);
    const { refused } = judgement;
    if (refused && before?.refused) return;
    // Servers may return the same schema in another order.
    if (probe.type === 'graphql' && before && !before.refused && judgement.changes.length === 0) {
      found.set(unit, { ...before, digest, rules });
      return;
    }
    const kept = refused ? JSON.parse(before!.text) : discovery.spec;
    found.set(unit, refused ? { ...before!, refused } : { type: probe.type, digest, rules, text, schema, refused });
    const { name, namespace } = metadata;
    const resource = {
      apiVersion: 'graphql.gw.vendor.io/v1beta1',
      kind: 'GraphQLApi',
      metadata: { name, namespace, labels: { discovered_by: 'discovery' } },
      spec: kept,
    };
    source.set(unit, resource);
    const problems = [
      ...discovery.skipped.filter(isReported).map(skippedProblem),
      ...changeProblems(judgement, 'the schema of the upstream has changed'),
    ];
    options.observe(keyOf('GraphQLApi', metadata), { problems, notes: [] });
    report(name, discovery, { log, judgement });
  }

  function drop(unit: string): void {
    quiet.delete(unit);
    functions?.drop(unit);
    dropApi(unit);
  }

  function dropApi(unit: string): void {
    found.delete(unit);
    source.delete(unit);
    options.observe(unit.replace('discovery', 'GraphQLApi') as ResourceKey, undefined);
  }

  let resourcesBefore: ReadonlyMap<ResourceKey, Resource> = new Map();
  let knownNamespaces: NamespaceLabels = new Map();
  const { isOwn = isInMemory } = options;

  return {
    update(resources, namespaces = knownNamespaces) {
      const changedKeys = differingKeys(resourcesBefore, resources);
      const isSameLabels = namespaces === knownNamespaces;
      resourcesBefore = resources;
      knownNamespaces = namespaces;
      // Nothing is discovered, and nothing that changed may start it.
      if (upstreams.size === 0 && isSameLabels && ![...changedKeys].some(mayStartDiscovery)) return;
      settings = settingsOf(resources);
      const granted = grantedHeaderNames([...resources.values()].map(({ spec }) => spec));
      const isSame = rulesOf(granted) === rulesOf(grantedHeaders);
      grantedHeaders = granted;
      const eligible = eligibleOf(resources, { settings, namespaces, isOwn });
      const { all, apis } = functions ? eligible : { ...eligible, all: onlyOf(eligible.all, eligible.apis) };
      for (const unit of upstreams.keys()) {
        if (!all.has(unit)) drop(unit);
        else if (withApi.has(unit) && !apis.has(unit)) dropApi(unit);
      }
      functions?.retain(resources, all);
      const changed = [...all].filter(([unit, upstream]) => {
        return !isSameUpstream(upstreams.get(unit), upstream) || withApi.has(unit) !== apis.has(unit);
      });
      for (const [unit] of changed) quiet.delete(unit);
      for (const [unit, upstream] of all) if (upstreams.get(unit) !== upstream) functions?.repeat(unit);
      upstreams = all;
      withApi = apis;
      if (changed.length > 0 || (!isSame && upstreams.size > 0)) void poll.start(upstreams.keys());
    },
    look: () => poll.start(upstreams.keys()),
    close: poll.close,
  };
}

function mayStartDiscovery(key: ResourceKey): boolean {
  return key.startsWith('Upstream/') || key.startsWith('Settings/') || key.startsWith('GraphQLApi/');
}

function isInMemory({ origin }: Resource, unit: string): boolean {
  return origin.file === `memory:${unit}`;
}

interface EligibilityContext {
  readonly settings: SettingsSpec;
  readonly namespaces: NamespaceLabels;
  readonly isOwn: NonNullable<DiscoveryOptions['isOwn']>;
}

interface Eligible {
  readonly all: Map<string, Resource<UpstreamSpec>>;
  /** Those that get a GraphQLApi. */
  readonly apis: ReadonlySet<string>;
}

/** Returns the upstreams to probe, by the unit of their API. */
function eligibleOf(
  resources: ReadonlyMap<ResourceKey, Resource>,
  { settings, namespaces, isOwn }: EligibilityContext,
): Eligible {
  const all = new Map<string, Resource<UpstreamSpec>>();
  const apis = new Set<string>();
  for (const resource of resources.values()) {
    if (resource.kind !== 'Upstream') continue;
    const upstream = resource as Resource<UpstreamSpec>;
    if (!isEligible(upstream, settings.discovery, namespaces)) continue;
    const unit = sourceKeyOf(resource.metadata);
    const api = resources.get(keyOf('GraphQLApi', resource.metadata));
    all.set(unit, upstream);
    if (createsApis(settings.discovery) && (!api || isOwn(api, unit))) apis.add(unit);
  }
  return { all, apis };
}

function onlyOf<T>(all: ReadonlyMap<string, T>, kept: ReadonlySet<string>): Map<string, T> {
  return new Map([...all].filter(([unit]) => kept.has(unit)));
}

/** Returns true if only functions of the upstream have changed, as after their discovery. */
function isSameUpstream(before: Resource<UpstreamSpec> | undefined, now: Resource<UpstreamSpec>): boolean {
  if (before === now) return true;
  return before !== undefined && isDeepStrictEqual(askedPart(before), askedPart(now));
}

/** Returns what decides how an upstream is probed. */
function askedPart({ metadata, spec }: Resource<UpstreamSpec>): unknown {
  const type = typeWithFunctions(spec);
  if (!type) return { metadata, spec };
  const { rest, graphql } = serviceSpecOf(spec) ?? {};
  const { annotations: _, ...own } = metadata;
  return {
    metadata: own,
    spec: { ...spec, [type]: { ...spec[type], serviceSpec: { swaggerInfo: rest?.swaggerInfo, graphql } } },
  };
}

async function judge(before: string | undefined, after: string, settings: SettingsSpec): Promise<Judgement> {
  if (before === undefined) return { refused: false, changes: [] };
  return judgeSchemas(readSchema(before).schema, readSchema(after).schema, changePolicyOf(settings));
}

function rulesOf(grantedHeaders: ReadonlySet<string>): string {
  return [...grantedHeaders].sort().join('\n');
}

/** Throws an `Error` for a description that is nested too deeply. */
function digestOf(probe: Probe, rules: string): string {
  const text = probe.type === 'grpc' ? [...probe.services, ''].join('\n') : textOf(probe);
  const hash = createHash('sha256').update(`${probe.type}\n${rules}\n\n`).update(text);
  return (probe.type === 'grpc' ? hash.update(probe.descriptorSet) : hash).digest('base64');
}

function textOf(probe: Probe): string {
  try {
    return JSON.stringify(probe);
  } catch (cause) {
    throw new Error('the description of the upstream is nested too deeply', { cause });
  }
}

/** Returns true if the status and a warning in the log report it. */
function isReported({ isCut, isWithheld }: Skipped): boolean {
  return isCut === true || isWithheld === true;
}

function skippedProblem({ where, reason }: Skipped): ObservedProblem {
  return { severity: 'warning', path: SCHEMA_PATH, message: `${where}: ${reason}` };
}

function report(
  upstream: string,
  { skipped }: Discovery,
  { log, judgement }: { readonly log: Logger; readonly judgement: Judgement },
): void {
  log.info({ upstream, skipped: skipped.length }, 'GraphQLApi created from upstream');
  for (const { where, reason, isCut } of skipped.filter(isReported).slice(0, 100)) {
    log.warn({ upstream, where, reason }, isCut ? 'schema truncated' : 'parameter not offered');
  }
  for (const { where, reason } of skipped.filter((each) => !isReported(each)).slice(0, 100)) {
    log.info({ upstream, where, reason }, 'skipped');
  }
  for (const { level, path, message } of judgement.changes.slice(0, 100)) {
    log[level === 'breaking' ? 'warn' : 'info'](
      { upstream, severity: level, path, change: message },
      'a schema has changed',
    );
  }
}
