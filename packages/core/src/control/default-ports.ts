import { isFromGatewayApi } from '../resource/generated.ts';
import type { GatewaySpec } from '../schema/kind/gateway.ts';
import { DEFAULT_PORTS, type DefaultGateways } from '../translate/listener/gateways.ts';
import type { ControlPlaneState } from './state.ts';

/**
 * Returns the ports of the default gateways that are not opened because there are Gateway resources, which replace both; those of the Gateway API
 * do not. Empty without Gateway resources, and for ports that they use themselves.
 */
export function replacedDefaultPorts(
  { resources, rejected }: Pick<ControlPlaneState, 'resources' | 'rejected'>,
  { httpPort = DEFAULT_PORTS.http, httpsPort = DEFAULT_PORTS.https }: DefaultGateways = {},
): readonly number[] {
  const isGateway = (key: string): boolean => key.startsWith('Gateway/');
  const written = [...resources].flatMap(([key, { metadata, spec }]) =>
    isGateway(key) && !isFromGatewayApi(metadata) ? [(spec as GatewaySpec).bindPort] : [],
  );
  if (written.length === 0 && ![...rejected.keys()].some(isGateway)) return [];
  return [httpPort, httpsPort].filter((port) => !written.includes(port));
}
