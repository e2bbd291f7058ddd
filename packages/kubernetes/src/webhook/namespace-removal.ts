import { gatewayNamespace, type SourceChange } from '@edge-gateway/core';
import type { AdmissionRequest } from './admission-review.ts';

/** What is known about the namespaces of a cluster. */
export interface ReadNamespaces {
  /** Returns the units of all objects of a namespace that are read. */
  unitsIn(namespace: string): Iterable<string>;
  /** Returns whether the Settings select a namespace with these labels. */
  isSelected(namespace: string, labels: Readonly<Record<string, string>>): boolean;
}

/** Those who empty a namespace that is being deleted. Rejected deletions would leave it there forever. */
const NAMESPACE_CONTROLLERS: ReadonlySet<string> = new Set([
  'system:serviceaccount:kube-system:namespace-controller',
  'system:kube-controller-manager',
]);

/** Returns whether the request is one for a Namespace. */
export function isNamespaceRequest({ kind }: AdmissionRequest): boolean {
  return kind.group === '' && kind.kind === 'Namespace';
}

/** Returns whether the request deletes a part of a namespace whose deletion was admitted. */
export function emptiesNamespace({ operation, userInfo }: AdmissionRequest): boolean {
  return operation === 'DELETE' && NAMESPACE_CONTROLLERS.has(userInfo?.username ?? '');
}

/**
 * Returns the removal of everything in a namespace, if the request deletes it, or changes its labels so that the Settings no longer select it.
 * Returns `undefined` if it removes nothing. The namespace of the gateway can always be deleted: nothing would be left to serve.
 */
export function namespaceRemoval(
  { operation, subResource, name = '', object }: AdmissionRequest,
  { unitsIn, isSelected }: ReadNamespaces,
): SourceChange | undefined {
  if (subResource || name === '' || name === gatewayNamespace()) return undefined;
  const { deletionTimestamp, labels = {} } = object?.metadata ?? {};
  const isRemoved =
    operation === 'DELETE' || (operation === 'UPDATE' && !deletionTimestamp && !isSelected(name, labels));
  const removed = isRemoved ? Array.from(unitsIn(name), (unit) => [unit, []] as const) : [];
  return removed.length > 0 ? new Map(removed) : undefined;
}
