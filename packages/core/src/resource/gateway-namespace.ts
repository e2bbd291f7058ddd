import { DEFAULT_NAMESPACE } from './resource.ts';

let namespace: string = DEFAULT_NAMESPACE;

/**
 * Returns the namespace of the gateway: that of its Settings, its leases and its reports in statuses, and of references that name none.
 * It belongs to the process, since both planes have to read references alike.
 */
export function gatewayNamespace(): string {
  return namespace;
}

/** Sets the namespace of the gateway. A program calls it before it creates anything else. */
export function setGatewayNamespace(name: string): void {
  namespace = name;
}
