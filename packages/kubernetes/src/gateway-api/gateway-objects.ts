import { GATEWAY_API_GROUP, type LabelSelector, type SecretValue } from '@edge-gateway/core';
import type { ClusterObject } from '../watch/cluster-object.ts';

/** The API group of the Gateway API. */
export const GATEWAY_GROUP = GATEWAY_API_GROUP;

/** A Gateway API object as written; fields are read leniently, because the API server has validated them. */
export type GatewayObject<Spec> = ClusterObject & { readonly spec?: Spec; readonly status?: unknown };

export interface GatewayClassSpec {
  readonly controllerName?: string;
  readonly parametersRef?: { readonly group?: string; readonly kind?: string; readonly name?: string };
}

export interface ObjectReference {
  readonly group?: string;
  readonly kind?: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface ListenerSpec {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  readonly hostname?: string;
  readonly tls?: {
    readonly mode?: string;
    readonly certificateRefs?: readonly ObjectReference[];
  };
  readonly allowedRoutes?: {
    readonly namespaces?: { readonly from?: string; readonly selector?: LabelSelector };
    readonly kinds?: readonly { readonly group?: string; readonly kind: string }[];
  };
}

export interface GatewaySpec {
  readonly gatewayClassName?: string;
  readonly listeners?: readonly ListenerSpec[];
  readonly addresses?: readonly { readonly type?: string; readonly value?: string }[];
}

export interface ParentReference extends ObjectReference {
  readonly sectionName?: string;
  readonly port?: number;
}

export interface BackendReference extends ObjectReference {
  readonly port?: number;
  readonly weight?: number;
  readonly filters?: readonly RouteFilter[];
}

interface HeaderFilter {
  readonly set?: readonly { readonly name: string; readonly value: string }[];
  readonly add?: readonly { readonly name: string; readonly value: string }[];
  readonly remove?: readonly string[];
}

interface PathModifier {
  readonly type?: string;
  readonly replaceFullPath?: string;
  readonly replacePrefixMatch?: string;
}

export interface RouteFilter {
  readonly type?: string;
  readonly requestHeaderModifier?: HeaderFilter;
  readonly responseHeaderModifier?: HeaderFilter;
  readonly requestRedirect?: {
    readonly scheme?: string;
    readonly hostname?: string;
    readonly path?: PathModifier;
    readonly port?: number;
    readonly statusCode?: number;
  };
  readonly urlRewrite?: { readonly hostname?: string; readonly path?: PathModifier };
  readonly requestMirror?: {
    readonly backendRef: BackendReference;
    readonly percent?: number;
    readonly fraction?: { readonly numerator?: number; readonly denominator?: number };
  };
  readonly extensionRef?: ObjectReference;
}

export interface ValueMatch {
  readonly type?: string;
  readonly name: string;
  readonly value: string;
}

export interface RouteMatch {
  /** Of HTTPRoutes. */
  readonly path?: { readonly type?: string; readonly value?: string };
  readonly queryParams?: readonly ValueMatch[];
  readonly headers?: readonly ValueMatch[];
  /** A text in HTTPRoutes, an object in GRPCRoutes. */
  readonly method?: string | { readonly type?: string; readonly service?: string; readonly method?: string };
}

export interface RouteRule {
  readonly name?: string;
  readonly matches?: readonly RouteMatch[];
  readonly filters?: readonly RouteFilter[];
  readonly backendRefs?: readonly BackendReference[];
  readonly timeouts?: { readonly request?: string; readonly backendRequest?: string };
}

export interface RouteSpec {
  readonly parentRefs?: readonly ParentReference[];
  readonly hostnames?: readonly string[];
  readonly rules?: readonly RouteRule[];
}

export interface ReferenceGrantSpec {
  readonly from?: readonly { readonly group?: string; readonly kind?: string; readonly namespace?: string }[];
  readonly to?: readonly { readonly group?: string; readonly kind?: string; readonly name?: string }[];
}

export type RouteKind = 'HTTPRoute' | 'GRPCRoute';
export type RouteObject = GatewayObject<RouteSpec> & { readonly kind?: string };

/** Everything that the translation of the Gateway API reads. */
export interface GatewayApiInput {
  readonly classes: Iterable<GatewayObject<GatewayClassSpec>>;
  readonly gateways: Iterable<GatewayObject<GatewaySpec>>;
  readonly routes: Readonly<Record<RouteKind, Iterable<RouteObject>>>;
  readonly grants: Iterable<GatewayObject<ReferenceGrantSpec>>;
  /** Labels of namespaces by name. */
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Returns the ports of a Service; `undefined` if there is none. */
  servicePorts(ref: { readonly name: string; readonly namespace: string }): readonly number[] | undefined;
  /** Returns the addresses at which the proxies of a Gateway are reached. */
  addressesOf(gateway: { readonly name: string; readonly namespace: string }): readonly string[];
  hasUpstream(ref: { readonly name: string; readonly namespace: string }): boolean;
  /** Returns why an option of the scope cannot be used. */
  optionProblem(
    kind: OptionResource['kind'],
    ref: { readonly name: string; readonly namespace: string },
  ): OptionProblem | undefined;
  /** Returns the certificate of a Secret, or why it cannot be used. */
  certificate(ref: { readonly name: string; readonly namespace: string }): CertificateState;
  /** Milliseconds since the epoch, for the dates of certificates. */
  readonly now: number;
  /** RouteOptions and VirtualHostOptions. */
  readonly options: Iterable<OptionResource>;
}

/** A usable Secret of type `kubernetes.io/tls`, or why it is not usable. */
export type CertificateState = SecretValue | { readonly problem: string };

/** Why an option cannot be used. */
export interface OptionProblem {
  /** False if it is invalid; an earlier version of it may be in use. */
  readonly isMissing: boolean;
  readonly message: string;
}

/** A RouteOption or VirtualHostOption, and the objects that it targets. */
export interface OptionResource {
  readonly kind: 'RouteOption' | 'VirtualHostOption';
  readonly name: string;
  readonly namespace: string;
  readonly targetRefs: readonly (ObjectReference & { readonly sectionName?: string })[];
}
