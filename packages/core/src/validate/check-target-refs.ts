import type { FieldPath, FieldProblem } from '../resource/problem.ts';
import type { TargetRef } from '../schema/kind/listener-option.ts';
import { each, reporterOf } from './check.ts';

const invalid = reporterOf('INVALID_TARGET');

/** Returns problems of the targets of options, which are in a namespace. */
export function checkTargetRefs(
  { targetRefs }: { readonly targetRefs?: readonly TargetRef[] },
  at: FieldPath,
  own: string,
): FieldProblem[] {
  return each(targetRefs, [...at, 'targetRefs'], ({ name, kind, namespace }, path) => [
    ...invalid(!name && 'the target has no name', path, { hint: 'name' }),
    ...invalid(
      kind !== undefined && kind !== 'Gateway' && `targets of kind '${kind}' are not supported`,
      [...path, 'kind'],
      {
        hint: 'Gateway',
      },
    ),
    ...invalid(
      namespace !== undefined &&
        namespace !== '' &&
        namespace !== own &&
        `the target must be in the namespace of the options, ${own}`,
      [...path, 'namespace'],
      { hint: own },
    ),
  ]);
}
