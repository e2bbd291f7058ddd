import type { GatewayClassSpec, GatewayObject, GatewaySpec } from './gateway-objects.ts';

/** The controller name of GatewayClasses. */
export const CONTROLLER_NAME = 'gateway.vendor.io/edge-gateway';

/** Returns whether this controller is responsible for a class. */
export function isOwnClass({ spec }: GatewayObject<GatewayClassSpec>): boolean {
  return spec?.controllerName === CONTROLLER_NAME;
}

/** Returns the Gateways whose class is ours and usable. */
export function ownGateways(
  classes: Iterable<GatewayObject<GatewayClassSpec>>,
  gateways: Iterable<GatewayObject<GatewaySpec>>,
): GatewayObject<GatewaySpec>[] {
  const usable = new Set(
    [...classes].filter((each) => isOwnClass(each) && !each.spec?.parametersRef).map(({ metadata }) => metadata.name),
  );
  return [...gateways].filter(({ spec }) => usable.has(spec?.gatewayClassName ?? ''));
}
