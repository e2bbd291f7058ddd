import type { FieldProblem } from '../../resource/problem.ts';
import type { Resource, ResourceRef } from '../../resource/resource.ts';
import type { Ref } from '../../schema/field.ts';
import type { RateLimitConfigSpec } from '../../schema/route/rate-limit.ts';
import type { RateLimitLevel } from '../../schema/route/route-options.ts';
import type { Route, SnapshotRateLimitConfig } from '../../contract/snapshot.ts';
import type { Reader } from '../input.ts';
import { dotted } from '../names.ts';
import { faultOf } from '../reference/missing.ts';

/** Options with references to RateLimitConfigs. */
export const CONFIG_OPTIONS = ['rateLimitConfigs', 'rateLimitEarlyConfigs', 'rateLimitRegularConfigs'] as const;

const NONE: readonly SnapshotRateLimitConfig[] = Object.freeze([]);

/** Returns the RateLimitConfigs that a virtual host refers to, sorted and unique, without broken ones. */
export function rateLimitConfigsOf(
  { options, routes }: { readonly options: RateLimitLevel; readonly routes: readonly Route[] },
  reader: Reader,
): readonly SnapshotRateLimitConfig[] {
  const configs = new Map<string, SnapshotRateLimitConfig>();
  const levels: readonly RateLimitLevel[] = [options, ...routes.map((route) => route.options)];
  for (const level of levels) {
    for (const ref of CONFIG_OPTIONS.flatMap((name) => level[name]?.refs ?? [])) {
      const { config } = findRateLimitConfig(ref, reader);
      if (config) configs.set(`${config.ref.namespace}/${config.ref.name}`, config);
    }
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

export function findRateLimitConfig({ name = '', namespace = '' }: Ref, reader: Reader): FoundConfig {
  const ref: ResourceRef = { name, namespace };
  const label = `RateLimitConfig ${dotted(ref)}`;
  const found = reader.find<RateLimitConfigSpec>('RateLimitConfig', ref);
  if (found.state === 'missing') return { fault: reader.missing(`${label} not found`, 'RateLimitConfig', ref) };
  if (found.state === 'rejected') return { fault: faultOf(`${label} is rejected: ${found.cause}`) };
  const config = reader.input.derived.of(configOf, found.resource);
  if (found.stale === undefined) return { config };
  return { config, warning: `${label} serves its last good version: ${found.stale}` };
}

function configOf({ metadata: { name, namespace }, spec }: Resource<RateLimitConfigSpec>): SnapshotRateLimitConfig {
  return Object.freeze({ ref: Object.freeze({ name, namespace }), spec });
}
