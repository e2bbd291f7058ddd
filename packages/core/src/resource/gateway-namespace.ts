import { DEFAULT_NAMESPACE } from './resource.ts';

let namespace: string = DEFAULT_NAMESPACE;

/**
 * Returns the namespace of the gateway: that of its Settings, leases and reports in statuses, and of references without a namespace. A process has only
 * one, because both planes must resolve references to the same resources.
 */
export function gatewayNamespace(): string {
  return namespace;
}

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Returns whether a namespace can have this name: a DNS label. */
export function isNamespaceName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Sets the namespace of the gateway for the whole process. Default: `gw-system`. Call it before you create anything else: what exists is not
 * updated.
 *
 * @example
 * setGatewayNamespace('edge');
 */
export function setGatewayNamespace(name: string): void {
  namespace = name;
}
