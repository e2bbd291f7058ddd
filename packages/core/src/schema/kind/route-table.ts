import * as f from '../field.ts';
import { RouteSpec } from '../route/route.ts';

const fields = f.block({
  routes: f.list(RouteSpec, 'The routes; the first match is used.'),
  weight: f.int('Order among the tables that one selector matches; lower comes first, negative is allowed.', {
    default: 0,
  }),
});
/** `spec` of a RouteTable. */
export interface RouteTableSpec extends f.Static<typeof fields> {}
export const RouteTableSpec = f.named<RouteTableSpec>('RouteTableSpec', fields);
