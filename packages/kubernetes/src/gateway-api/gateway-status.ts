import { condition } from './conditions.ts';
import type { CheckedListener } from './gateway-listeners.ts';
import {
  GATEWAY_GROUP,
  type GatewayApiInput,
  type GatewayClassSpec,
  type GatewayObject,
  type GatewaySpec,
} from './gateway-objects.ts';
import { SUPPORTED_FEATURES } from './supported-features.ts';

/** The label of Services and other objects that belong to a Gateway. */
export const GATEWAY_NAME_LABEL = 'gateway.networking.k8s.io/gateway-name';

/** Returns the status of a class of ours. */
export function classStatus({ metadata, spec }: GatewayObject<GatewayClassSpec>): Record<string, unknown> {
  const problem = spec?.parametersRef && {
    reason: 'InvalidParameters',
    message: 'parametersRef is not supported',
  };
  return {
    conditions: [condition('Accepted', metadata.generation ?? 0, problem)],
    supportedFeatures: SUPPORTED_FEATURES.map((name) => ({ name })),
  };
}

interface StatusContext {
  /** Number of routes by listener. */
  readonly attachedRoutes: ReadonlyMap<CheckedListener, number>;
  readonly input: GatewayApiInput;
}

/** Returns the status of a Gateway. */
export function gatewayStatus(
  gateway: GatewayObject<GatewaySpec>,
  listeners: readonly CheckedListener[],
  { attachedRoutes, input }: StatusContext,
): Record<string, unknown> {
  const { generation = 0 } = gateway.metadata;
  const unserved = listeners.filter(({ isServed }) => !isServed);
  const unusable = addressProblem(gateway);
  const isPartly = unserved.length > 0 && unserved.length < listeners.length;
  const names = unserved.map(({ spec }) => spec.name).join(', ');
  const invalid = { reason: 'ListenersNotValid', message: `invalid listeners: ${names}` };
  const accepted = unusable ?? (unserved.length > 0 && !isPartly ? invalid : undefined);
  const addresses = addressesOf(gateway, input);
  const programmed = accepted
    ? { reason: 'Invalid', message: accepted.message }
    : addresses.length > 0
      ? undefined
      : {
          reason: 'AddressNotAssigned',
          message: `no Service with the label ${GATEWAY_NAME_LABEL}: ${gateway.metadata.name} has an address`,
        };
  return {
    ...(addresses.length > 0 && { addresses }),
    conditions: [
      condition('Accepted', generation, accepted, isPartly ? 'ListenersNotValid' : 'Accepted'),
      condition('Programmed', generation, programmed),
    ],
    listeners: listeners.map((listener) => ({
      name: listener.spec.name,
      supportedKinds: listener.kinds.map((kind) => ({ group: GATEWAY_GROUP, kind })),
      attachedRoutes: attachedRoutes.get(listener) ?? 0,
      conditions: [
        ...listener.conditions,
        condition(
          'Programmed',
          generation,
          listener.isServed ? undefined : { reason: 'Invalid', message: 'the listener is not valid' },
        ),
      ],
    })),
  };
}

function addressProblem({
  spec,
}: GatewayObject<GatewaySpec>): { readonly reason: string; readonly message: string } | undefined {
  const other = spec?.addresses?.find(({ type = 'IPAddress' }) => type !== 'IPAddress' && type !== 'Hostname');
  return other && { reason: 'UnsupportedAddress', message: `addresses of type ${other.type} are not supported` };
}

function addressesOf({ spec, metadata }: GatewayObject<GatewaySpec>, input: GatewayApiInput) {
  const wanted = (spec?.addresses ?? []).filter(({ value }) => value);
  if (wanted.length > 0) return wanted.map(({ type = 'IPAddress', value }) => ({ type, value }));
  const { name, namespace = '' } = metadata;
  return input
    .addressesOf({ name, namespace })
    .map((value) => ({ type: /^[\d.]+$|:/.test(value) ? 'IPAddress' : 'Hostname', value }));
}
