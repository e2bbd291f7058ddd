import { anything, block, list, named, of, type Static } from '../field.ts';
import { RouteOptions } from '../route/route-options.ts';

const fields = block({
  options: of(RouteOptions, 'The options.'),
  targetRefs: list(anything(), 'Only used with the Kubernetes Gateway API.'),
});
/** `spec` of a RouteOption. */
export interface RouteOptionSpec extends Static<typeof fields> {}
export const RouteOptionSpec = named<RouteOptionSpec>('RouteOptionSpec', fields);
