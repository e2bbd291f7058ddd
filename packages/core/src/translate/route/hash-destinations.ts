import type { RouteAction } from '../../contract/snapshot.ts';
import type { FieldProblem } from '../../resource/problem.ts';
import type { RouteOptions } from '../../schema/route/route-options.ts';
import type { Reader } from '../input.ts';
import { dotted } from '../names.ts';
import { faultOf } from '../reference/missing.ts';
import { refOf } from './subsets.ts';

/** Returns a warning for each upstream of a route that ignores its `lbHash`. */
export function hashWarnings(action: RouteAction, { lbHash }: RouteOptions, reader: Reader): readonly FieldProblem[] {
  if (action.type !== 'forward' || !lbHash?.hashPolicies?.length) return [];
  return action.destinations.flatMap(({ upstream, dynamic, broken }) => {
    const served = dynamic || broken ? undefined : reader.upstream(refOf(upstream)).upstream;
    if (!served) return [];
    const { ringHash, maglev } = served.spec.loadBalancerConfig ?? {};
    if (ringHash ?? maglev) return [];
    return [faultOf(`lbHash has no effect: upstream ${dotted(served.ref)} balances without ringHash or maglev`)];
  });
}
