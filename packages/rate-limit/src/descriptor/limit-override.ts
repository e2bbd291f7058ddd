import { isRequests, isUnit, UNIT_MS, type Limit } from '../rules/limit.ts';
import { compileMetadataKey, type MetadataKey } from './metadata-value.ts';
import type { DescribedRequest } from './request.ts';

/** Returns the limit that metadata contain; `undefined` keeps that of the rules. */
export type LimitOverride = (request: DescribedRequest) => Limit | undefined;

/**
 * Returns the function that reads `{requests_per_unit, unit}` from dynamic metadata. Absent metadata keep the limit of the rules;
 * invalid ones do too, and are reported.
 */
export function compileLimitOverride(metadataKey: MetadataKey, warn: (message: string) => void): LimitOverride {
  const read = compileMetadataKey(metadataKey, 'DYNAMIC');
  return (request) => {
    const value = read(request);
    if (value === undefined || value === null) return undefined;
    const { requests_per_unit: requests, unit } = Object(value) as { requests_per_unit?: unknown; unit?: unknown };
    if (isRequests(requests) && isUnit(unit)) {
      return { requests, unit, unitMs: UNIT_MS[unit], algorithm: 'FIXED_WINDOW', burst: requests };
    }
    warn(`invalid limit in metadata ${metadataKey.key}: must have an integer requests_per_unit and a unit`);
    return undefined;
  };
}
