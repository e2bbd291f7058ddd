import { keyOf, type ResourceRef } from '../../resource/resource.ts';
import type { SnapshotAuthConfig } from '../../contract/snapshot.ts';
import type { ProblemSource } from '../status/report.ts';
import type { VirtualServiceBuild } from '../virtual-host/virtual-hosts.ts';
import { claimantsOf, type Conflicts } from './conflicts.ts';

const MODES = ['oidcAuthorizationCode', 'oauth2'] as const;

/** A login whose users return to a host that no virtual service serves. */
export interface UnservedLogin {
  readonly config: ResourceRef;
  /** The host of its `appUrl`. */
  readonly host: string;
  /** The field `appUrl`. */
  readonly source: ProblemSource;
}

/** Returns true if an AuthConfig of the virtual service has a login. */
export function hasLogin({ virtualHost }: VirtualServiceBuild): boolean {
  return virtualHost.authConfigs.some(({ spec }) =>
    spec.configs?.some(({ oauth2 }) => MODES.some((mode) => oauth2?.[mode])),
  );
}

/** Returns a function that returns the unserved logins of an AuthConfig, by the domains of all gateways. */
export function createLoginCheck(
  gateways: readonly Conflicts[],
): (config: SnapshotAuthConfig) => readonly UnservedLogin[] {
  const known = new Map<SnapshotAuthConfig, readonly UnservedLogin[]>();
  return (config) => {
    const found = known.get(config) ?? loginsOf(config).filter(({ host }) => !isServed(host, gateways));
    known.set(config, found);
    return found;
  };
}

function loginsOf({ ref, spec }: SnapshotAuthConfig): readonly UnservedLogin[] {
  return (spec.configs ?? []).flatMap(({ oauth2 }, i) =>
    MODES.flatMap((mode) => {
      const host = URL.parse(oauth2?.[mode]?.appUrl ?? '')?.hostname;
      const path = ['spec', 'configs', i, 'oauth2', mode, 'appUrl'];
      return host ? { config: ref, host, source: { key: keyOf('AuthConfig', ref), path } } : [];
    }),
  );
}

/** Returns true if a domain of a gateway matches the host, on any port. */
function isServed(host: string, gateways: readonly Conflicts[]): boolean {
  const matching = ['*', host];
  for (let i = 1; i < host.length; i++) matching.push(`*${host.slice(i)}`, `${host.slice(0, i)}*`);
  const isMatch = (domain: string): boolean => matching.includes(domain);
  return (
    gateways.some((gateway) => matching.some((domain) => claimantsOf(gateway, domain).length > 0)) ||
    // Few get here: all domains are searched for one with a port.
    gateways.some(({ claims }) => [...claims.keys()].some((domain) => isMatch(domain.replace(/:\d+$/, ''))))
  );
}
