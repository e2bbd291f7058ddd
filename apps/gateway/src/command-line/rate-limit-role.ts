import * as flags from './flags.ts';
import type { Role, RoleSettings } from './role.ts';

/** The ports of the rate limit server. */
export const RATE_LIMIT_PORTS = {
  statsPort: { flag: '--stats-port', fallback: 9091, what: 'metrics and diagnostics' },
} as const;

export interface RateLimitSettings extends RoleSettings {}

/** The rate limit server: counts requests of Envoy and of other gateways by the rules of a directory. */
export const rateLimitRole: Role<RateLimitSettings> = {
  name: 'rate-limit',
  description: 'Serves the rate limits in a directory to Envoy and other gateways (ratelimit).',
  ports: RATE_LIMIT_PORTS,
  options: () => flags.serviceOptions(Object.values(RATE_LIMIT_PORTS)),
};
