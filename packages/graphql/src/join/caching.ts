import type { ApiResult } from '../execute/executable-api.ts';
import { cacheControl } from '../execute/cache-policy.ts';

/** Returns the shortest time and narrowest scope of all parts; `undefined` if a part has errors or no `Cache-Control`. */
export function joinedCaching(
  parts: readonly ApiResult[],
): Pick<ApiResult, 'cacheControl' | 'sharedForSeconds' | 'declaredPublic'> {
  let maxAge = Number.POSITIVE_INFINITY;
  let scope: 'public' | 'private' = 'public';
  let shared = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    const [, age, who] = /^max-age=(\d+), (public|private)$/.exec(part.cacheControl ?? '') ?? [];
    if (age === undefined || (part.errors?.length ?? 0) > 0) return {};
    maxAge = Math.min(maxAge, Number(age));
    if (who === 'private') scope = 'private';
    shared = Math.min(shared, part.sharedForSeconds ?? 0);
  }
  if (!Number.isFinite(maxAge)) return {};
  const control = cacheControl(maxAge, scope);
  return {
    ...(control !== undefined && { cacheControl: control }),
    ...(shared > 0 && scope === 'public' && { sharedForSeconds: shared }),
    ...(parts.every(({ declaredPublic }) => declaredPublic) && { declaredPublic: true }),
  };
}
