import { differingKeys } from '../layered-map.ts';
import type { Gauge, Metrics, StatName } from '../observe/metrics.ts';
import type { FieldPath } from '../resource/problem.ts';
import { gatewayNamespace } from '../resource/gateway-namespace.ts';
import { keyOf, type Resource, type ResourceKey } from '../resource/resource.ts';
import type { SettingsSpec } from '../schema/kind/settings.ts';
import { redact } from '../security/redact.ts';
import { parseJsonPath, textAt } from '../syntax/json-path.ts';
import { settingsKey } from '../translate/translation-settings.ts';
import { CONFIG_STATUS_NAMES, kindOfName, type ConfigStatusKind } from '../validate/config-status-kinds.ts';
import { kindOf } from '../translate/changes.ts';
import type { ControlPlaneState } from './state.ts';

/** Longer values of labels are cut. */
const MAX_LABEL = 256;
/** If more resources disappear at once, all gauges are made again: removing a single one searches all statistics. */
const MAX_REMOVED = 100;

type Labels = NonNullable<NonNullable<SettingsSpec['observabilityOptions']>['configStatusMetricLabels']>;
type LabelPaths = readonly (readonly [label: string, path: FieldPath])[];

/** The resources with the same labels. */
interface Series {
  readonly path: string;
  readonly gauge: Gauge;
  readonly members: Set<ResourceKey>;
  /** Those with a warning, and rejected ones. */
  readonly faulty: Set<ResourceKey>;
}

/** Gauges of the states of resources. */
export interface ConfigStatusMetrics {
  update(state: ControlPlaneState): void;
}

/**
 * Creates the gauges that `observabilityOptions.configStatusMetricLabels` of the Settings selects: 0 for a valid resource, 1 for one with a
 * warning or error. Resources with the same labels share a gauge, which is 1 if one of them has a problem. Labels show no secret value.
 */
export function createConfigStatusMetrics(metrics: Metrics): ConfigStatusMetrics {
  let labels: Labels = NO_LABELS;
  let paths: ReadonlyMap<ConfigStatusKind, LabelPaths> = new Map();
  let before: ControlPlaneState | undefined;
  const series = new Map<string, Series>();
  const seriesOf = new Map<ResourceKey, Series>();

  function clear(): void {
    for (const kind of paths.keys()) metrics.remove(pathOf(kind));
    series.clear();
    seriesOf.clear();
    before = undefined;
  }

  function update(key: ResourceKey, resource: ShownResource | undefined, isFaulty: boolean): void {
    const kind = kindOf(key) as ConfigStatusKind;
    const next = resource && seriesWith(statOf(kind, paths.get(kind)!, resource));
    const previous = seriesOf.get(key);
    if (previous && previous !== next) leave(key, previous);
    if (!next) return;
    seriesOf.set(key, next);
    next.members.add(key);
    if (isFaulty) next.faulty.add(key);
    else next.faulty.delete(key);
    next.gauge.value = next.faulty.size > 0 ? 1 : 0;
  }

  function seriesWith(name: StatName): Series {
    const known = series.get(name.path);
    if (known) return known;
    const created = {
      path: name.path,
      gauge: metrics.gauge(name),
      members: new Set<ResourceKey>(),
      faulty: new Set<ResourceKey>(),
    };
    series.set(name.path, created);
    return created;
  }

  function leave(key: ResourceKey, { path, gauge, members, faulty }: Series): void {
    seriesOf.delete(key);
    members.delete(key);
    faulty.delete(key);
    gauge.value = faulty.size > 0 ? 1 : 0;
    if (members.size > 0) return;
    series.delete(path);
    metrics.remove(path);
  }

  return {
    update(state) {
      const spec = state.resources.get(settingsKey())?.spec as SettingsSpec | undefined;
      const wanted = spec?.observabilityOptions?.configStatusMetricLabels ?? NO_LABELS;
      if (wanted !== labels) {
        clear();
        labels = wanted;
        paths = pathsOf(wanted);
      }
      if (paths.size === 0) return;
      const proxies = new Map(state.proxies.map((proxy) => [keyOf('Proxy', proxy.metadata), proxy] as const));
      let changed = changedKeys(before, state, proxies);
      const removed = [...changed].filter((key) => seriesOf.has(key) && !shownOf(key, state, proxies));
      if (removed.length > MAX_REMOVED) {
        clear();
        changed = changedKeys(undefined, state, proxies);
      }
      for (const key of changed) {
        if (!paths.has(kindOf(key) as ConfigStatusKind)) continue;
        const status = state.statuses.get(key)?.statuses[gatewayNamespace()]?.state;
        update(key, shownOf(key, state, proxies), status === 'Warning' || status === 'Rejected');
      }
      before = state;
    },
  };
}

const NO_LABELS: Labels = {};

function pathsOf(labels: Labels): ReadonlyMap<ConfigStatusKind, LabelPaths> {
  return new Map(
    Object.entries(labels).flatMap(([name, { labelToPath = {} }]) => {
      const kind = kindOfName(name);
      const steps = Object.entries(labelToPath).flatMap(([label, text]) => {
        const path = parseJsonPath(text);
        return path ? [[label, path] as const] : [];
      });
      return kind ? [[kind, steps] as const] : [];
    }),
  );
}

type Proxies = ReadonlyMap<ResourceKey, Resource>;

/** Returns the keys whose resource or status may have changed. */
function changedKeys(
  before: ControlPlaneState | undefined,
  state: ControlPlaneState,
  proxies: Proxies,
): ReadonlySet<ResourceKey> {
  const { resources, rejected, statuses } = state;
  return new Set([
    ...differingKeys(before?.statuses ?? new Map(), statuses),
    ...differingKeys(before?.resources ?? new Map(), resources),
    ...differingKeys(before?.rejected ?? new Map(), rejected),
    ...(before?.proxies.map(({ metadata }) => keyOf('Proxy', metadata)) ?? []),
    ...proxies.keys(),
  ]);
}

/** A resource as paths read it: without the content of Secrets and ConfigMaps, and without credentials. */
type ShownResource = Readonly<Record<'apiVersion' | 'kind' | 'metadata' | 'spec', unknown>>;

function shownOf(
  key: ResourceKey,
  { resources, rejected }: ControlPlaneState,
  proxies: Proxies,
): ShownResource | undefined {
  const resource = resources.get(key) ?? proxies.get(key);
  const written = resource ?? (rejected.get(key) as Partial<Resource> | undefined);
  if (!written) return undefined;
  const { apiVersion, metadata, spec } = written;
  const kind = kindOf(key);
  return {
    apiVersion,
    kind,
    metadata: redact(metadata),
    get spec() {
      return kind === 'Secret' || kind === 'ConfigMap' ? undefined : redact(spec);
    },
  };
}

function statOf(kind: ConfigStatusKind, paths: LabelPaths, resource: ShownResource): StatName {
  const labels = Object.fromEntries(paths.map(([label, path]) => [label, textAt(resource, path).slice(0, MAX_LABEL)]));
  const path = pathOf(kind);
  return { path: `${path}${JSON.stringify(labels)}`, metric: path.replaceAll(/[^a-z]/g, '_'), labels };
}

function pathOf(kind: ConfigStatusKind): string {
  return `validation.gateway.vendor.io/${CONFIG_STATUS_NAMES[kind]}_config_status`;
}
