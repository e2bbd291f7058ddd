import type { FieldPath } from '../../resource/issue.ts';
import type { RouteTableSpec } from '../../schema/kind/route-table.ts';
import { each, type Finding } from '../finding.ts';
import { checkRoute } from './route.ts';

/** Problems of a RouteTable. */
export function checkRouteTable({ routes }: RouteTableSpec, at: FieldPath): Finding[] {
  return each(routes, [...at, 'routes'], checkRoute);
}
