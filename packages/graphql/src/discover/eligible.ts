import type { Resource } from '@edge-gateway/core';
import type { SettingsSpec, UpstreamSpec } from '@edge-gateway/core/schema';

/** The label on an Upstream: `enabled` or `disabled`. */
export const DISCOVERY_LABEL = 'discovery.vendor.io/function_discovery';

type DiscoverySettings = SettingsSpec['discovery'];

/**
 * Returns true if an upstream is discovered. With `BLACKLIST` all are without the label `disabled`, with
 * `WHITELIST` only those with the label `enabled`. Settings without `discovery` mean `WHITELIST`.
 */
export function isEligible({ metadata, spec }: Resource<UpstreamSpec>, discovery: DiscoverySettings): boolean {
  const mode = discovery ? (discovery.fdsMode ?? 'BLACKLIST') : 'WHITELIST';
  if (mode === 'DISABLED' || discovery?.fdsOptions?.graphqlEnabled === false || !spec.static) return false;
  const label = metadata.labels?.[DISCOVERY_LABEL] ?? spec.discoveryMetadata?.labels?.[DISCOVERY_LABEL];
  return mode === 'WHITELIST' ? label === 'enabled' : label !== 'disabled';
}
