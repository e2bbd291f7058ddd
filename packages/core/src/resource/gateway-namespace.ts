import { DEFAULT_NAMESPACE } from './resource.ts';

let namespace: string = DEFAULT_NAMESPACE;

/**
 * Returns the namespace of the gateway: that of its Settings, leases and reports in statuses, and of references without a namespace. A process has only
 * one, because both planes must resolve references to the same resources.
 */
export function gatewayNamespace(): string {
  return namespace;
}

/** Sets the namespace of the gateway for the whole process. Call it before you create anything else: what exists is not updated. */
export function setGatewayNamespace(name: string): void {
  namespace = name;
}
