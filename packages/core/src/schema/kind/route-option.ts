import * as f from '../field.ts';
import { RouteOptions } from '../route/route-options.ts';

const fields = f.block({
  options: f.of(RouteOptions, 'The options.'),
  targetRefs: f.list(f.anything(), 'Only used with the Kubernetes Gateway API.'),
});
/** `spec` of a RouteOption. */
export interface RouteOptionSpec extends f.Static<typeof fields> {}
export const RouteOptionSpec = f.named<RouteOptionSpec>('RouteOptionSpec', fields);
