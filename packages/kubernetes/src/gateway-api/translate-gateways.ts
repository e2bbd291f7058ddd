import { objectKey } from '../watch/cluster-object.ts';
import type { Http2Upstream } from './backends.ts';
import { checkListeners, type CheckedListener } from './gateway-listeners.ts';
import type { GatewayApiInput, GatewayObject } from './gateway-objects.ts';
import { resourcesOf, upstreamOf } from './gateway-resources.ts';
import { classStatus, gatewayStatus } from './gateway-status.ts';
import { placeRoute, type HostPlan } from './host-plans.ts';
import { createOptionTargets } from './option-targets.ts';
import { isOwnClass, ownGateways } from './own-gateways.ts';
import type { FaultMemo } from './route-rules.ts';
import type { GatewayApiTranslation, GeneratedResource, NewStatus } from './translation.ts';

export interface TranslateGatewaysOptions {
  /** Namespace of the resources. */
  readonly writeNamespace: string;
  /** What was found about routes before; filled by the translation. */
  readonly memo?: FaultMemo;
}

/** Translates all Gateway API objects into resources of ours, and into their statuses. Pure; the order of the input does not matter. */
export function translateGateways(
  input: GatewayApiInput,
  { writeNamespace, memo = new WeakMap() }: TranslateGatewaysOptions,
): GatewayApiTranslation {
  const grants = [...input.grants];
  const statuses: NewStatus[] = [];
  const classes = [...input.classes];
  for (const each of classes)
    if (isOwnClass(each)) statuses.push({ kind: 'GatewayClass', object: each, status: classStatus(each) });
  const gateways = sorted(ownGateways(classes, input.gateways));
  const listeners = new Map(
    gateways.map((gateway) => [objectKey(gateway.metadata), checkListeners(gateway, input, grants)]),
  );
  const http2 = new Map<string, Http2Upstream>();
  const hosts = new Map<string, HostPlan>();
  const targets = createOptionTargets(input.options);
  const context = { input, grants, listeners, targets, writeNamespace, memo, http2, hosts };
  const attachedRoutes = new Map<CheckedListener, number>();
  for (const kind of ['HTTPRoute', 'GRPCRoute'] as const) {
    for (const route of sorted(input.routes[kind])) {
      const result = placeRoute(route, kind, context);
      if (!result) continue;
      statuses.push(result.status);
      for (const listener of new Set(result.placed.attachments.map((each) => each.listener)))
        attachedRoutes.set(listener, (attachedRoutes.get(listener) ?? 0) + 1);
    }
  }
  const plans = Map.groupBy(hosts.values(), ({ listener }) => listener.gateway);
  const resources: GeneratedResource[] = [];
  for (const gateway of gateways) {
    const own = listeners.get(objectKey(gateway.metadata))!;
    resources.push(...resourcesOf(gateway, own, { hosts: plans.get(gateway) ?? [], targets, writeNamespace }));
    statuses.push({ kind: 'Gateway', object: gateway, status: gatewayStatus(gateway, own, { attachedRoutes, input }) });
  }
  for (const upstream of http2.values()) resources.push(upstreamOf(upstream, writeNamespace));
  return { resources, statuses };
}

/** Sorted by age, then by namespace and name: older objects take precedence. */
function sorted<T extends GatewayObject<unknown>>(objects: Iterable<T>): T[] {
  return Array.from(objects, (object) => ({
    object,
    key: `${object.metadata.creationTimestamp ?? ''} ${objectKey(object.metadata)}`,
  }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ object }) => object);
}
