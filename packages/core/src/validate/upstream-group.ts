import type { FieldPath } from '../parse/issue.ts';
import type { UpstreamGroupSpec } from '../schema/upstream-group.ts';
import { checkWeighted } from './destination.ts';
import type { Finding } from './finding.ts';

/** Problems of an UpstreamGroup. */
export function checkUpstreamGroup({ destinations }: UpstreamGroupSpec, at: FieldPath): Finding[] {
  return checkWeighted(destinations, [...at, 'destinations']);
}
