import type { Algorithm, Limit, Unit } from '@edge-gateway/rate-limit';
import { UNIT_MS } from '../../src/rules/limit.ts';

/** Returns a limit as rules have it. */
export function limitOf(
  requests: number,
  unit: Unit = 'MINUTE',
  algorithm: Algorithm = 'FIXED_WINDOW',
  burst = requests,
): Limit {
  return { requests, unit, unitMs: UNIT_MS[unit], algorithm, burst };
}
