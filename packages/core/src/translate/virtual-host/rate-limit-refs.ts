import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { Resource, ResourceRef } from '../../resource/resource.ts';
import type { Ref } from '../../schema/field.ts';
import type { RateLimitConfigRefs, RateLimitConfigSpec } from '../../schema/route/rate-limit.ts';
import type { Route, SnapshotRateLimitConfig } from '../../contract/snapshot.ts';
import type { Reader } from '../input.ts';
import { dotted } from '../names.ts';
import { faultOf } from '../reference/missing.ts';
import type { Report } from '../status/report.ts';
import type { OptionSource } from './options.ts';

/** Options with references to RateLimitConfigs. */
const FAMILIES = ['rateLimitConfigs', 'rateLimitEarlyConfigs', 'rateLimitRegularConfigs'] as const;
type Family = (typeof FAMILIES)[number];

/** Options that may refer to RateLimitConfigs. */
export type HasRateLimitConfigs = { readonly [F in Family]?: RateLimitConfigRefs | undefined };

/** A virtual host or a route as it is written. */
export interface RateLimitHolder {
  readonly written: OptionSource<HasRateLimitConfigs>;
  readonly at: FieldPath;
}

/** Returns why the RateLimitConfigs of merged options cannot be used, each at the field of its reference. */
export function rateLimitProblems(
  options: HasRateLimitConfigs,
  holder: RateLimitHolder,
  reader: Reader,
): FieldProblem[] {
  return FAMILIES.flatMap((family) =>
    (options[family]?.refs ?? []).flatMap((ref, i) => {
      const { fault } = findConfig(ref, reader);
      return fault ? [{ ...fault, path: placeOf(family, i, holder) }] : [];
    }),
  );
}

/** A block of the holder replaces those of shared options. */
function placeOf(family: Family, index: number, { written, at }: RateLimitHolder): FieldPath {
  if (written.options?.[family]) return [...at, 'options', family, 'refs', index];
  return written.optionsConfigRefs ? [...at, 'optionsConfigRefs'] : at;
}

const NONE: readonly SnapshotRateLimitConfig[] = Object.freeze([]);

/** Returns the RateLimitConfigs that a virtual host refers to, sorted and unique, without broken ones. */
export function rateLimitConfigsOf(
  { options, routes }: { readonly options: HasRateLimitConfigs; readonly routes: readonly Route[] },
  reader: Reader,
  report: Report,
): readonly SnapshotRateLimitConfig[] {
  const configs = new Map<string, SnapshotRateLimitConfig>();
  const levels: readonly HasRateLimitConfigs[] = [options, ...routes.map((route) => route.options)];
  for (const ref of levels.flatMap((level) => FAMILIES.flatMap((family) => level[family]?.refs ?? []))) {
    const { config, warning } = findConfig(ref, reader);
    if (warning !== undefined) report.warn(warning);
    if (config) configs.set(`${config.ref.namespace}/${config.ref.name}`, config);
  }
  if (configs.size === 0) return NONE;
  return Object.freeze([...configs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, config]) => config));
}

/** A RateLimitConfig, why it cannot be used, or a warning about it. */
interface FoundConfig {
  readonly config?: SnapshotRateLimitConfig;
  readonly fault?: FieldProblem;
  readonly warning?: string;
}

function findConfig({ name = '', namespace = '' }: Ref, reader: Reader): FoundConfig {
  const ref: ResourceRef = { name, namespace };
  const label = `RateLimitConfig ${dotted(ref)}`;
  const found = reader.find<RateLimitConfigSpec>('RateLimitConfig', ref);
  if (found.state === 'missing') return { fault: reader.missing(`${label} not found`, 'RateLimitConfig', ref) };
  if (found.state === 'refused') return { fault: faultOf(`${label} is rejected: ${found.cause}`) };
  const config = reader.input.derived.of(configOf, found.resource);
  if (found.stale === undefined) return { config };
  return { config, warning: `${label} serves its last valid version: ${found.stale}` };
}

function configOf({ metadata: { name, namespace }, spec }: Resource<RateLimitConfigSpec>): SnapshotRateLimitConfig {
  return Object.freeze({ ref: Object.freeze({ name, namespace }), spec });
}
