import type { FieldPath } from '../../resource/problem.ts';
import { keyOf, type ResourceKey } from '../../resource/resource.ts';
import type { BufferPerRoute } from '../../schema/route/small-options.ts';
import type { RouteAction } from '../../contract/snapshot.ts';
import type { Reader } from '../input.ts';
import type { DelegatingRoute, Holder, Leaf } from '../route/delegation.ts';
import type { ProblemSource } from '../status/report.ts';
import { optionPlace, type OptionHolder } from './option-place.ts';

/** A field of a virtual host or route that needs an option of its gateway. */
export interface GatewayNeed {
  /** The option, in `httpGateway.options`. */
  readonly option: 'buffer' | 'dynamicForwardProxy';
  /** The resource that contains the virtual host or route. */
  readonly key: ResourceKey;
  /** The field in that resource. */
  readonly path: FieldPath;
  /** Where it is written, if that is in shared options. */
  readonly source?: ProblemSource;
  /** Name of the route for messages; missing for a virtual host. */
  readonly route?: string;
}

interface HasBuffer {
  readonly bufferPerRoute?: BufferPerRoute;
}

/** Returns what the options of a virtual host need. */
export function needsOfHost(
  { bufferPerRoute }: HasBuffer,
  holder: OptionHolder,
  { ref, kind }: Holder,
  reader: Reader,
): readonly GatewayNeed[] {
  return bufferNeeds([bufferPerRoute], () => [{ key: keyOf(kind, ref), holder }], reader);
}

/** Returns what a route needs. Options that it inherits are located at the route that delegates to it. */
export function needsOfRoute(leaf: Leaf, action: RouteAction, reader: Reader): readonly GatewayNeed[] {
  const forwards = action.type === 'forward' ? action.destinations : [];
  const limits = [leaf.options, ...forwards.map(({ options }) => options as HasBuffer)].map(
    (one) => one.bufferPerRoute,
  );
  const needs = bufferNeeds(limits, () => levelsFrom(leaf), reader);
  if (!forwards.some(({ dynamic }) => dynamic?.type === 'host')) return needs;
  const path = [...leaf.at, 'routeAction', 'dynamicForwardProxy'];
  return [...needs, { option: 'dynamicForwardProxy', key: levelOf(leaf).key, route: leaf.label, path }];
}

/** A virtual host or route with options. */
interface Level {
  readonly key: ResourceKey;
  readonly route?: string;
  readonly holder: OptionHolder;
}

/** Returns a route, then those that delegate to it, the nearest first. */
function levelsFrom(route: DelegatingRoute): readonly Level[] {
  const levels: Level[] = [];
  for (let each: DelegatingRoute | undefined = route; each; each = each.above) levels.push(levelOf(each));
  return levels;
}

function levelOf({ spec, holder: { kind, ref }, at, label }: DelegatingRoute): Level {
  return {
    key: keyOf(kind, ref),
    route: label,
    holder: { written: spec, kind: 'RouteOption', namespace: ref.namespace, at },
  };
}

/** `levelsOf` returns the holder of the limits, then those that it inherits from. */
function bufferNeeds(
  limits: readonly (BufferPerRoute | undefined)[],
  levelsOf: () => readonly Level[],
  reader: Reader,
): readonly GatewayNeed[] {
  return limits.flatMap((limit) => {
    if (!limit?.buffer) return [];
    const pathIn = (options: HasBuffer) => (options.bufferPerRoute === limit ? ['bufferPerRoute'] : undefined);
    const levels = levelsOf();
    for (const { holder, key, route } of levels) {
      const place = optionPlace(pathIn, holder, reader);
      if (place) return [{ option: 'buffer', key, route, path: place.at, source: place.shared?.source } as const];
    }
    const { holder, key, route } = levels[0]!;
    return [{ option: 'buffer', key, route, path: holder.at } as const];
  });
}
