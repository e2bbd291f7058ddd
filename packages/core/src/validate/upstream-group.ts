import type { FieldPath, FieldProblem } from '../resource/problem.ts';
import type { UpstreamGroupSpec } from '../schema/kind/upstream-group.ts';
import { checkWeighted } from './route/destination.ts';

/** Returns problems of an UpstreamGroup. */
export function checkUpstreamGroup({ destinations }: UpstreamGroupSpec, at: FieldPath): FieldProblem[] {
  return checkWeighted(destinations, [...at, 'destinations']);
}
