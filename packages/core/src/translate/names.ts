import { gatewayNamespace } from '../resource/gateway-namespace.ts';
import type { ResourceRef } from '../resource/resource.ts';

/** Returns `<namespace>.<name>`, the name of a resource in messages and virtual hosts. */
export function dotted(ref: ResourceRef): string {
  return [ref.namespace, ref.name].join('.');
}

/**
 * Returns `listener-<bindAddress>-<bindPort>`. Port 0 means any free port, so several listeners may have it; the
 * name of the gateway then distinguishes them.
 */
export function listenerName(bindAddress: string, bindPort: number, gateway: ResourceRef): string {
  const name = `listener-${bindAddress}-${bindPort}`;
  if (bindPort !== 0) return name;
  return `${name}-${gateway.namespace === gatewayNamespace() ? gateway.name : dotted(gateway)}`;
}

/** `<virtual host>-route-<i>[-<route name>]`. */
export function routeName(virtualHost: string, index: number, name: string | undefined): string {
  return [virtualHost, 'route', index, ...(name ? [name] : [])].join('-');
}

/** Key of a proxy in `subresourceStatuses`. */
export function subresourceKey(proxy: string, namespace: string): string {
  return `*v1.Proxy.${proxy}_${namespace}`;
}

/** A step on the path from a virtual service to a leaf route: the name of a route, or its index. */
export interface LogNameStep {
  readonly table?: ResourceRef;
  readonly name: string | undefined;
  readonly index: number;
}

/** `vs:<owner>_route:<name or <unnamed-i>>[_rt:<ns>_<table>_route:<name>…]`; empty when no step is named. */
export function logName(owner: string, steps: readonly LogNameStep[]): string {
  if (!steps.some((step) => step.name)) return '';
  const parts = steps.map(({ table, name, index }) => {
    const route = `route:${name || `<unnamed-${index}>`}`;
    return table ? `rt:${table.namespace}_${table.name}_${route}` : route;
  });
  return ['vs:', owner, '_', parts.join('_')].join('');
}
