import { gatewayNamespace } from '../resource/gateway-namespace.ts';
import type { SettingsSpec } from '../schema/kind/settings.ts';
import { matchesSelector, type Labels } from '../syntax/label-expression.ts';

/** Returns true for a namespace whose resources are read; `labels` are those of the namespace. */
export type IsWatched = (namespace: string, labels: Labels) => boolean;

/**
 * Returns the namespaces that the Settings select: those of `watchNamespaces`, else those whose labels match one of
 * `watchNamespaceSelectors`, and always the write namespace. Returns `undefined` if all are read.
 *
 * @example
 * watchedNamespaces({ watchNamespaces: ['team-a'] })?.('team-b', {}); // false
 */
export function watchedNamespaces(spec: SettingsSpec): IsWatched | undefined {
  const { discoveryNamespace, watchNamespaces = [], watchNamespaceSelectors = [] } = spec;
  const own = discoveryNamespace || gatewayNamespace();
  if (watchNamespaces.length > 0) {
    const names = new Set([own, ...watchNamespaces]);
    // An empty name is that of all namespaces, as in the Kubernetes API.
    return names.has('') ? undefined : (namespace) => names.has(namespace);
  }
  if (watchNamespaceSelectors.length === 0) return undefined;
  return (namespace, labels) =>
    namespace === own || watchNamespaceSelectors.some((selector) => matchesSelector(labels, selector));
}

/** Returns the labels of a namespace outside of Kubernetes: the one that Kubernetes sets on every namespace. */
export function labelsOfName(namespace: string): Labels {
  return { 'kubernetes.io/metadata.name': namespace };
}
