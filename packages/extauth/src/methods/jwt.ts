import type { AuthMethodKind } from '@edge-gateway/core';

/** A step that passes when a token was verified before external auth (reference: security 1.8). */
export const jwtMethod: AuthMethodKind = {
  type: 'jwt',
  create: () => ({
    local: true,
    authorize({ metadata }) {
      const verified = metadata.get('envoy.filters.http.jwt_authn');
      const isVerified = verified !== undefined && Object.values(verified).some(isPayload);
      return isVerified ? { allowed: true } : { allowed: false, status: 401, reason: 'no token was verified' };
    },
  }),
};

/** The metadata also holds failures, as `{code, message}` (`attachFailedStatusToMetadata`). */
function isPayload(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return !('code' in value && 'message' in value && Object.keys(value).length === 2);
}
