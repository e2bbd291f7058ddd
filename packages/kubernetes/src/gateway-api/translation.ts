import type { GatewayObject, RouteKind } from './gateway-objects.ts';

/** A resource of ours that the translation makes. */
export interface GeneratedResource {
  readonly apiVersion: string;
  readonly kind: 'Gateway' | 'VirtualService' | 'Upstream' | 'Secret';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** A status of a Gateway API object, with conditions without times. */
export interface NewStatus {
  readonly kind: 'GatewayClass' | 'Gateway' | RouteKind;
  readonly object: GatewayObject<unknown>;
  readonly status: Readonly<Record<string, unknown>>;
}

export interface GatewayApiTranslation {
  readonly resources: readonly GeneratedResource[];
  readonly statuses: readonly NewStatus[];
}
