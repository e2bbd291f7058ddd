import type { Metadata } from './resource.ts';

/** The labels of resources that are made from Gateways and routes of the Kubernetes Gateway API. */
export const GATEWAY_API_LABELS = Object.freeze({ created_by: 'gw-kube-gateway-api' });

/** Returns whether a resource was made from the Kubernetes Gateway API: other Gateways do not serve it. */
export function isFromGatewayApi({ labels }: Pick<Metadata, 'labels'>): boolean {
  return labels?.['created_by'] === GATEWAY_API_LABELS.created_by;
}
