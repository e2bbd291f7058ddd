import { block, int, list, named, type Static } from '../field.ts';
import { RouteSpec } from '../route/route.ts';

const fields = block({
  routes: list(RouteSpec, 'The routes; the first match is used.'),
  weight: int('Order among the tables that one selector matches; lower comes first, negative is allowed.', {
    default: 0,
  }),
});
/** `spec` of a RouteTable. */
export interface RouteTableSpec extends Static<typeof fields> {}
export const RouteTableSpec = named<RouteTableSpec>('RouteTableSpec', fields);
