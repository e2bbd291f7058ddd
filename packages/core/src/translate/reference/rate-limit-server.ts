import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import { gatewayNamespace } from '../../resource/gateway-namespace.ts';
import { keyOf } from '../../resource/resource.ts';
import type { RateLimitServer } from '../../schema/route/rate-limit.ts';
import type { TranslationInput } from '../input.ts';
import { dotted } from '../names.ts';
import { faultOf, missingFault } from './missing.ts';

/** Returns the problem of an unusable upstream of a rate limit server: the gateway counts instead. */
export function missingRateLimitServer(
  server: RateLimitServer | undefined,
  input: TranslationInput,
  at: FieldPath,
): FieldProblem[] {
  const { name, namespace } = server?.ratelimitServerRef ?? {};
  if (!name) return [];
  const ref = { name, namespace: namespace || gatewayNamespace() };
  const entry = input.upstreams.get(keyOf('Upstream', ref));
  if (entry && !entry.fault) return [];
  const fault = entry
    ? faultOf(entry.fault!.message)
    : missingFault(`Upstream ${dotted(ref)} not found`, 'Upstream', ref, input);
  const message = `requests are counted in the gateway: ${fault.message}`;
  return [{ ...fault, message, path: [...at, 'ratelimitServerRef'] }];
}
