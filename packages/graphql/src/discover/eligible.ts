import { DISCOVERY_LABEL, type Resource } from '@edge-gateway/core';
import type { SettingsSpec, UpstreamSpec } from '@edge-gateway/core/schema';

/** Labels of the namespaces of a cluster. */
export type NamespaceLabels = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** Their Services are only asked with the label `enabled`. */
const SYSTEM_NAMESPACES: ReadonlySet<string> = new Set(['kube-system', 'kube-public']);

/**
 * Returns whether an upstream is asked for its functions. `BLACKLIST` means all without the label `disabled`, `WHITELIST` those with
 * `enabled`; the default is `WHITELIST`. The label of the Upstream counts first, then that of its Service, then that of the namespace.
 */
export function isEligible(
  { metadata, spec }: Resource<UpstreamSpec>,
  discovery: SettingsSpec['discovery'],
  namespaces: NamespaceLabels,
): boolean {
  const mode = discovery ? (discovery.fdsMode ?? 'BLACKLIST') : 'WHITELIST';
  if (mode === 'DISABLED') return false;
  if (!spec.static && !spec.kube) return false;
  const namespace = spec.kube?.serviceNamespace ?? '';
  const label =
    metadata.labels?.[DISCOVERY_LABEL] ??
    spec.discoveryMetadata?.labels?.[DISCOVERY_LABEL] ??
    namespaces.get(namespace)?.[DISCOVERY_LABEL];
  const needsLabel = mode === 'WHITELIST' || SYSTEM_NAMESPACES.has(namespace);
  return needsLabel ? label === 'enabled' : label !== 'disabled';
}

/** Returns whether GraphQLApis are created for upstreams that are asked for their functions. */
export function createsApis(discovery: SettingsSpec['discovery']): boolean {
  return discovery?.fdsOptions?.graphqlEnabled !== false;
}
