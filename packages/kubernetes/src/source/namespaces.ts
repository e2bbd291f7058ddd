import { gatewayNamespace, watchedNamespaces, type IsWatched } from '@edge-gateway/core';
import type { SettingsSpec } from '@edge-gateway/core/schema';
import type { ClusterObject } from '../watch/cluster-object.ts';

/** Which namespaces Settings tell to read. */
export type NamespaceChoice =
  | { readonly all: true }
  | { readonly names: readonly string[] }
  /** By the labels of the namespaces. */
  | { readonly isWatched: IsWatched };

/** Returns the choice of the Settings. The write namespace, and the one with the Settings, are always read. */
export function namespaceChoice(settings: ClusterObject | undefined): NamespaceChoice {
  const spec = specOf(settings);
  const isWatched = watchedNamespaces(spec);
  if (!isWatched) return { all: true };
  const { discoveryNamespace, watchNamespaces = [] } = spec;
  if (watchNamespaces.length === 0)
    return { isWatched: (name, labels) => name === gatewayNamespace() || isWatched(name, labels) };
  const names = new Set([gatewayNamespace(), discoveryNamespace || gatewayNamespace(), ...watchNamespaces]);
  return { names: [...names].sort() };
}

/** Returns the fields that choose namespaces. The cluster may have definitions that do not check them. */
function specOf(settings: ClusterObject | undefined): SettingsSpec {
  const { discoveryNamespace, watchNamespaces, watchNamespaceSelectors } = (settings?.spec ?? {}) as Record<
    string,
    unknown
  >;
  return {
    ...(typeof discoveryNamespace === 'string' && { discoveryNamespace }),
    ...(Array.isArray(watchNamespaces) && {
      watchNamespaces: watchNamespaces.filter((one) => typeof one === 'string'),
    }),
    ...(Array.isArray(watchNamespaceSelectors) && { watchNamespaceSelectors: watchNamespaceSelectors.filter(Boolean) }),
  };
}
