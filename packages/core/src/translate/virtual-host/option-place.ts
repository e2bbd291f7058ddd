import type { FieldPath } from '../../resource/problem.ts';
import { keyOf, type ResourceRef } from '../../resource/resource.ts';
import type { ForwardAction } from '../../schema/route/route.ts';
import type { RateLimitLevel, WeightedDestinationOptions } from '../../schema/route/route-options.ts';
import type { Reader } from '../input.ts';
import { dotted } from '../names.ts';
import type { ProblemSource } from '../status/report.ts';
import type { OptionSource } from './options.ts';

/** The options that every level may have, and those of virtual hosts and routes. */
type Options = WeightedDestinationOptions & RateLimitLevel;

/** The holder of merged options: a virtual host or a route as it is written. */
export interface OptionHolder {
  readonly written: OptionSource<Options> & { readonly routeAction?: ForwardAction };
  readonly kind: 'VirtualHostOption' | 'RouteOption';
  readonly namespace: string;
  readonly at: FieldPath;
}

/** Where a part of merged options is written. */
export interface OptionPlace {
  /** In the resource of the holder. */
  readonly at: FieldPath;
  /** True if `at` is the path of the part. */
  readonly isInline?: boolean;
  /** The resource with shared options that contains the part, and its path there. */
  readonly shared?: { readonly name: string; readonly source: ProblemSource };
}

/**
 * Finds a part of merged options in the options of the holder, or in those that it refers to. `pathIn` returns the path
 * of the part in the options that contain it. `undefined` for an inherited part.
 */
export function optionPlace(
  pathIn: (options: Options) => FieldPath | undefined,
  { written, kind, namespace, at }: OptionHolder,
  reader: Reader,
): OptionPlace | undefined {
  const levels: [FieldPath, Options | undefined][] = [[[...at, 'options'], written.options]];
  for (const [i, { options }] of (written.routeAction?.multi?.destinations ?? []).entries())
    levels.push([[...at, 'routeAction', 'multi', 'destinations', i, 'options'], options]);
  for (const [above, options] of levels) {
    const path = options && pathIn(options);
    if (path) return { at: [...above, ...path], isInline: true };
  }
  for (const [i, { name = '', namespace: own = namespace }] of (
    written.optionsConfigRefs?.delegateOptions ?? []
  ).entries()) {
    const ref: ResourceRef = { name, namespace: own };
    const found = reader.find<{ options?: Options }>(kind, ref);
    const options = found.state === 'usable' ? found.resource.spec.options : undefined;
    const path = options && pathIn(options);
    if (!path) continue;
    const source = { key: keyOf(kind, ref), path: ['spec', 'options', ...path] };
    return {
      at: [...at, 'optionsConfigRefs', 'delegateOptions', i],
      shared: { name: `${kind} ${dotted(ref)}`, source },
    };
  }
  return undefined;
}
