import type { FieldPath } from '../../resource/problem.ts';
import { keyOf, type ResourceRef } from '../../resource/resource.ts';
import type { ForwardAction } from '../../schema/route/route.ts';
import type { TransformationTemplate } from '../../schema/route/transformations.ts';
import { templatesOf, type HasTransformations } from '../../validate/transformation/stages.ts';
import type { Reader } from '../input.ts';
import { dotted } from '../names.ts';
import type { ProblemSource } from '../status/report.ts';
import type { OptionSource } from './options.ts';

/** The holder of merged options: a virtual host or a route as it is written. */
export interface TemplateHolder {
  readonly written: OptionSource<HasTransformations> & { readonly routeAction?: ForwardAction };
  readonly kind: 'VirtualHostOption' | 'RouteOption';
  readonly namespace: string;
  readonly at: FieldPath;
}

/** Where a template of merged options is written. */
export interface TemplatePlace {
  /** In the resource of the holder. */
  readonly at: FieldPath;
  /** True if `at` is the path of the template. */
  readonly isInline?: boolean;
  /** The resource with shared options that contains the template, and its path there. */
  readonly shared?: { readonly name: string; readonly source: ProblemSource };
}

/** Finds a template of merged options in the options of the holder, or in those that it refers to. Inherited ones are at the holder. */
export function templatePlace(template: TransformationTemplate, holder: TemplateHolder, reader: Reader): TemplatePlace {
  const { written, kind, namespace, at } = holder;
  const pathIn = (options: HasTransformations | undefined): FieldPath | undefined =>
    options && templatesOf(options).find((each) => each.template === template)?.path;
  const levels: [FieldPath, HasTransformations | undefined][] = [[[...at, 'options'], written.options]];
  for (const [i, { options }] of (written.routeAction?.multi?.destinations ?? []).entries())
    levels.push([[...at, 'routeAction', 'multi', 'destinations', i, 'options'], options]);
  for (const [above, options] of levels) {
    const path = pathIn(options);
    if (path) return { at: [...above, ...path], isInline: true };
  }
  for (const [i, { name = '', namespace: own = namespace }] of (
    written.optionsConfigRefs?.delegateOptions ?? []
  ).entries()) {
    const ref: ResourceRef = { name, namespace: own };
    const found = reader.find<{ options?: HasTransformations }>(kind, ref);
    const path = found.state === 'usable' ? pathIn(found.resource.spec.options) : undefined;
    if (!path) continue;
    const source = { key: keyOf(kind, ref), path: ['spec', 'options', ...path] };
    return {
      at: [...at, 'optionsConfigRefs', 'delegateOptions', i],
      shared: { name: `${kind} ${dotted(ref)}`, source },
    };
  }
  return { at };
}
