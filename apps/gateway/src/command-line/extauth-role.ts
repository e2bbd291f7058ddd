import * as flags from './flags.ts';
import type { Role, RoleSettings } from './role.ts';

/** The ports of the auth server. */
export const EXTAUTH_PORTS = {
  statsPort: { flag: '--stats-port', fallback: 9091, what: 'metrics and diagnostics' },
} as const;

export interface ExtAuthSettings extends RoleSettings {}

/** The auth server: decides about requests of Envoy and of other gateways with the AuthConfigs of a directory. */
export const extAuthRole: Role<ExtAuthSettings> = {
  name: 'extauth',
  description: 'Serves the AuthConfigs in a directory to Envoy and other gateways (ext_authz).',
  ports: EXTAUTH_PORTS,
  options: () => flags.serviceOptions(Object.values(EXTAUTH_PORTS)),
};
