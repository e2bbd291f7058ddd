import type { FieldPath, FieldProblem } from '../resource/problem.ts';
import type { Kind } from '../resource/resource.ts';

/** A check of one kind with dependencies that core does not have, such as the parser of a language in a field. */
export interface ResourceCheck {
  readonly kind: Kind;
  /** Returns the problems of a spec that matches its schema; each rejects the resource. `path` is that of the spec. */
  readonly check: (spec: never, path: FieldPath) => readonly FieldProblem[];
}
