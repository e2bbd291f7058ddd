import type { FieldPath, FieldProblem } from '../resource/problem.ts';
import type { Kind } from '../resource/resource.ts';

/** A check of one kind of resource by what core does not have, such as the parser of a language in a field. */
export interface ResourceCheck {
  readonly kind: Kind;
  /** The problems of a spec that has the shape of its schema; each refuses the resource. `path` is that of the spec. */
  readonly check: (spec: never, path: FieldPath) => readonly FieldProblem[];
}
