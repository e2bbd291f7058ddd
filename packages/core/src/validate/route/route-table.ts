import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { RouteTableSpec } from '../../schema/kind/route-table.ts';
import { each } from '../check.ts';
import { checkRoute } from './route.ts';

/** Returns problems of a RouteTable. */
export function checkRouteTable({ routes }: RouteTableSpec, at: FieldPath): FieldProblem[] {
  return each(routes, [...at, 'routes'], checkRoute);
}
