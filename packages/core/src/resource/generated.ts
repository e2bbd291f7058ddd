import type { Metadata, ResourceRef } from './resource.ts';

/** The labels of resources that are made from Gateways and routes of the Kubernetes Gateway API. */
export const GATEWAY_API_LABELS = Object.freeze({ created_by: 'gw-kube-gateway-api' });

/** Returns whether a resource was made from the Kubernetes Gateway API: other Gateways do not serve it. */
export function isFromGatewayApi({ labels }: Pick<Metadata, 'labels'>): boolean {
  return labels?.['created_by'] === GATEWAY_API_LABELS.created_by;
}

/** The API group of the Kubernetes Gateway API. */
export const GATEWAY_API_GROUP = 'gateway.networking.k8s.io';

/** What a Gateway was made from: listeners, with one port, of a Gateway of the Kubernetes Gateway API. */
export interface GatewayApiListeners extends ResourceRef {
  readonly listeners: readonly string[];
}

const GATEWAY = 'gateway.vendor.io/gateway-api-gateway';
const LISTENERS = 'gateway.vendor.io/gateway-api-listeners';

/** Returns the annotations that tell what a Gateway was made from. */
export function gatewayApiAnnotations({ namespace, name, listeners }: GatewayApiListeners): Record<string, string> {
  return { [GATEWAY]: `${namespace}/${name}`, [LISTENERS]: listeners.join() };
}

/** Returns what a Gateway was made from; `undefined` if somebody wrote it. */
export function gatewayApiListeners(metadata: Metadata): GatewayApiListeners | undefined {
  const { [GATEWAY]: gateway, [LISTENERS]: listeners = '' } = metadata.annotations ?? {};
  if (gateway === undefined || !isFromGatewayApi(metadata)) return undefined;
  const [namespace = '', name = ''] = gateway.split('/');
  return { namespace, name, listeners: listeners.split(',') };
}
