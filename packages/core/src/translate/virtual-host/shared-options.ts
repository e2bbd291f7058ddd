import { identityOfKey, type Kind, type ResourceRef } from '../../resource/resource.ts';
import type { StoredResource } from '../../resource/stored.ts';
import type { HasTransformations } from '../../validate/transformation/stages.ts';
import { Reader, type TranslationInput } from '../input.ts';
import { dotted } from '../names.ts';
import { NO_PROBLEMS, Report, type Problems } from '../status/report.ts';
import type { OptionSource } from './options.ts';
import { transformationProblems } from './effective-transformations.ts';

/** Returns problems of the templates of a RouteOption or VirtualHostOption. They have the causes of those of its users. */
export function sharedOptionProblems({ key, resource }: StoredResource, input: TranslationInput): Problems {
  const spec = resource?.spec as OptionSource<HasTransformations> | undefined;
  if (!spec?.options) return NO_PROBLEMS;
  const { kind, namespace, name } = identityOfKey(key) as ResourceRef & {
    readonly kind: Extract<Kind, 'RouteOption' | 'VirtualHostOption'>;
  };
  const holder = { written: { options: spec.options }, kind, namespace, at: ['spec'] };
  const report = new Report();
  for (const problem of transformationProblems(spec.options, holder, new Reader(input)))
    report.error({ ...problem, cause: `${kind} ${dotted({ namespace, name })}: ${problem.message}` });
  return report.problems();
}
