import type { FieldPath } from '../resource/issue.ts';
import type { UpstreamGroupSpec } from '../schema/kind/upstream-group.ts';
import { checkWeighted } from './route/destination.ts';
import type { Finding } from './finding.ts';

/** Problems of an UpstreamGroup. */
export function checkUpstreamGroup({ destinations }: UpstreamGroupSpec, at: FieldPath): Finding[] {
  return checkWeighted(destinations, [...at, 'destinations']);
}
