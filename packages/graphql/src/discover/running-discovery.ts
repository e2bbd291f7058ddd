import { createHash } from 'node:crypto';
import {
  differingKeys,
  grantedHeaderNames,
  keyOf,
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
import { discover } from './discover.ts';
import type { Discovery, Probe, Skipped } from './discovered-api.ts';
import { isEligible, type NamespaceLabels } from './eligible.ts';
import { probeUpstream } from './probe.ts';

export interface DiscoveryOptions {
  readonly callUpstream: CallUpstream;
  /** Returns an upstream of the newest snapshot. */
  readonly findUpstream: (ref: ResourceRef) => SnapshotUpstream | undefined;
  readonly secrets: Secrets;
  /** Receives the generated resources. */
  readonly source: Pick<MemorySource, 'set' | 'delete'>;
  /** Returns whether discovery has created a GraphQLApi. Default: if it comes from `source` in memory. */
  readonly isOwn?: (api: Resource, unit: string) => boolean;
  /** Receives changes of the schema of an upstream, e.g. `observe` of a control plane. */
  readonly observe: (key: ResourceKey, observed: Observed | undefined) => void;
  readonly log: Logger;
  /** Polling interval of an upstream in milliseconds. Default 15,000. */
  readonly intervalMs?: number;
}

/** A loop that creates GraphQLApis of upstreams. */
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
 * Creates the loop that probes upstreams (Settings `discovery`, label `discovery.vendor.io/function_discovery`) and adds
 * a GraphQLApi of the upstream's name to the source. It does not replace a configured GraphQLApi of this name.
 */
export function createDiscovery(options: DiscoveryOptions): RunningDiscovery {
  const { source, log } = options;
  const found = new Map<string, Found>();
  const quiet = new Map<string, number>();
  /** Reported problems of documents, each of which is logged once. */
  const reported = new LRUCache<string, true>({ max: 1000 });
  let upstreams = new Map<string, Resource<UpstreamSpec>>();
  let settings: SettingsSpec = {};
  let grantedHeaders: ReadonlySet<string> = new Set();
  const poll = createPoll(ask, () => upstreams.keys(), options.intervalMs);

  async function ask(unit: string): Promise<void> {
    const upstream = upstreams.get(unit);
    if (!upstream || poll.closed) return;
    const rest = quiet.get(unit) ?? 0;
    if (rest > 0) return void quiet.set(unit, rest - 1);
    const before = found.get(unit);
    const reportPath = (path: string, reason: string): void => {
      const what = `${unit} ${path} ${reason}`;
      if (!reported.has(what)) log.warn({ upstream: upstream.metadata.name, path, reason }, 'skipped');
      reported.set(what, true);
    };
    const probe = await probeUpstream(upstream, { ...options, reportPath }, before?.type);
    if (poll.closed || !upstreams.has(unit)) return;
    if (!probe) return void (before ?? quiet.set(unit, QUIET_ROUNDS - 1));
    try {
      await applyProbe(unit, upstream, probe);
    } catch (error) {
      quiet.set(unit, QUIET_ROUNDS - 1);
      const reason = (error as Error).message;
      log.warn({ upstream: upstream.metadata.name, reason }, 'no GraphQLApi can be created from upstream');
    }
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
    found.delete(unit);
    quiet.delete(unit);
    source.delete(unit);
    options.observe(unit.replace('discovery', 'GraphQLApi') as ResourceKey, undefined);
  }

  let known: ReadonlyMap<ResourceKey, Resource> = new Map();
  let knownNamespaces: NamespaceLabels = new Map();
  const { isOwn = isInMemory } = options;

  return {
    update(resources, namespaces = knownNamespaces) {
      const changedKeys = differingKeys(known, resources);
      const isSameLabels = namespaces === knownNamespaces;
      known = resources;
      knownNamespaces = namespaces;
      // Nothing is discovered, and nothing that changed may start it.
      if (upstreams.size === 0 && isSameLabels && ![...changedKeys].some(mayStartDiscovery)) return;
      settings = settingsOf(resources);
      const granted = grantedHeaderNames([...resources.values()].map(({ spec }) => spec));
      const isSame = rulesOf(granted) === rulesOf(grantedHeaders);
      grantedHeaders = granted;
      const eligible = eligibleOf(resources, { settings, namespaces, isOwn });
      for (const unit of upstreams.keys()) if (!eligible.has(unit)) drop(unit);
      const changed = [...eligible].filter(([unit, upstream]) => upstreams.get(unit) !== upstream);
      for (const [unit] of changed) quiet.delete(unit);
      upstreams = eligible;
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

/** Returns the upstreams to probe, by the unit of their API. */
function eligibleOf(
  resources: ReadonlyMap<ResourceKey, Resource>,
  { settings, namespaces, isOwn }: EligibilityContext,
): Map<string, Resource<UpstreamSpec>> {
  const eligible = new Map<string, Resource<UpstreamSpec>>();
  for (const resource of resources.values()) {
    if (resource.kind !== 'Upstream') continue;
    const upstream = resource as Resource<UpstreamSpec>;
    if (!isEligible(upstream, settings.discovery, namespaces)) continue;
    const unit = `discovery/${resource.metadata.namespace}/${resource.metadata.name}`;
    const api = resources.get(keyOf('GraphQLApi', resource.metadata));
    if (!api || isOwn(api, unit)) eligible.set(unit, upstream);
  }
  return eligible;
}

async function judge(before: string | undefined, after: string, settings: SettingsSpec): Promise<Judgement> {
  if (before === undefined) return { refused: false, changes: [] };
  return judgeSchemas(readSchema(before).schema, readSchema(after).schema, changePolicyOf(settings));
}

function rulesOf(grantedHeaders: ReadonlySet<string>): string {
  return [...grantedHeaders].sort().join('\n');
}

function digestOf(probe: Probe, rules: string): string {
  const text = probe.type === 'grpc' ? [...probe.services, ''].join('\n') : JSON.stringify(probe);
  const hash = createHash('sha256').update(`${probe.type}\n${rules}\n\n`).update(text);
  return (probe.type === 'grpc' ? hash.update(probe.descriptorSet) : hash).digest('base64');
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
