import { gatewayNamespace } from '../resource/gateway-namespace.ts';
import { keyOf } from '../resource/resource.ts';
import { DEFAULTS } from '../schema/defaults.ts';
import type { SettingsSpec } from '../schema/kind/settings.ts';
import { upstreamDefaults } from './reference/upstream-defaults.ts';
import type { SnapshotSettings } from '../contract/snapshot.ts';
import { find, type Resources } from './reference/find.ts';

/** Returns the reference of the Settings in effect. */
const settingsRef = () => ({ namespace: gatewayNamespace(), name: 'default' });
/** Returns the key of the Settings in effect. */
export const settingsKey = () => keyOf('Settings', settingsRef());
/** Default of `invalidRouteResponseBody`. */
export const REPLACEMENT_BODY = 'The requested resource is not available.';

/** The Settings for translation, with all defaults. */
export interface TranslationSettings {
  /** Namespace from which Gateways are read and to which Proxies are written. */
  readonly writeNamespace: string;
  /** False: no listener is served. */
  readonly translatesGateways: boolean;
  /** Proxies of deleted Gateways keep what they serve. */
  readonly keepsProxies: boolean;
  readonly readGatewaysFromAllNamespaces: boolean;
  readonly translateEmptyGateways: boolean;
  /** Shows the specs of Proxies compressed. */
  readonly compressedProxySpec: boolean;
  readonly isolateVirtualHosts: boolean;
  /** Default of `sslConfig.oneWayTls`, if any. */
  readonly oneWayTls: boolean | undefined;
  /** Default of `appendXForwardedHost`, if any. */
  readonly appendXForwardedHost: boolean | undefined;
  readonly warnShortCircuits: boolean;
  readonly warnMissingTlsSecret: boolean;
  /** Whether templates are validated when they are read. */
  readonly validateTransformations: boolean;
  readonly regexMaxProgramSize: number;
  /** Adds a header for Linkerd to requests to Services. */
  readonly linkerd: boolean;
  /** Rejects `kube` destinations. */
  readonly disableKubernetesDestinations: boolean;
  readonly invalidRoutes: InvalidRoutes;
  /** Of upstreams, see `withDefaults`. */
  readonly upstreamDefaults: string;
  /** The part for the data plane. */
  readonly served: SnapshotSettings;
}

/** The response of a route with a broken reference. */
export interface InvalidRoutes {
  /** True only with an explicit `replaceInvalidRoutes`: errors of a route then affect the route, not the virtual host. */
  readonly demoteErrors: boolean;
  readonly status: number;
  readonly body: string;
}

const UNSET: SettingsSpec = {};
/** The intent of rejected Settings is unknown. */
const CLOSED: SettingsSpec = { rbac: { requireRbac: true } };

/** Returns the settings in use, the same object as long as the resource is the same. */
export function readSettings({ stored, derived }: Resources): TranslationSettings {
  const found = find<SettingsSpec>(stored, 'Settings', settingsRef());
  const spec = found.state === 'missing' ? UNSET : found.state === 'rejected' ? CLOSED : found.resource.spec;
  return derived.of(settingsOf, spec);
}

function settingsOf(spec: SettingsSpec): TranslationSettings {
  const { consoleOptions, discoveryNamespace, gateway = {}, gw = {}, extauth, rbac } = spec;
  return Object.freeze({
    writeNamespace: discoveryNamespace || gatewayNamespace(),
    translatesGateways: gateway.enableGatewayController ?? true,
    keepsProxies: gw.disableProxyGarbageCollection ?? false,
    readGatewaysFromAllNamespaces: gateway.readGatewaysFromAllNamespaces ?? false,
    translateEmptyGateways: gateway.translateEmptyGateways ?? false,
    compressedProxySpec: gateway.compressedProxySpec ?? false,
    isolateVirtualHosts: gateway.isolateVirtualHostsBySslConfig ?? false,
    oneWayTls: gateway.virtualServiceOptions?.oneWayTls,
    appendXForwardedHost: gw.istioOptions?.appendXForwardedHost,
    warnShortCircuits: gateway.validation?.warnRouteShortCircuiting ?? false,
    warnMissingTlsSecret: gateway.validation?.warnMissingTlsSecret ?? true,
    validateTransformations: gateway.validation?.disableTransformationValidation !== true,
    linkerd: spec.linkerd ?? false,
    disableKubernetesDestinations: gw.disableKubernetesDestinations ?? false,
    regexMaxProgramSize: gw.regexMaxProgramSize || DEFAULTS.regexMaxProgramSize,
    invalidRoutes: invalidRoutes(gw.invalidConfigPolicy),
    upstreamDefaults: upstreamDefaults(spec),
    served: Object.freeze({
      ...(extauth && { extauth }),
      ...(spec.namedExtauth && { namedExtauth: spec.namedExtauth }),
      ...(spec.extProc && { extProc: spec.extProc }),
      ...(spec.extProcEarly && { extProcEarly: spec.extProcEarly }),
      ...(spec.extProcLate && { extProcLate: spec.extProcLate }),
      ...(spec.ratelimit && { ratelimit: spec.ratelimit }),
      ...(spec.ratelimitServer && { ratelimitServer: spec.ratelimitServer }),
      requireRbac: rbac?.requireRbac ?? false,
      ...(gw.disableGrpcWeb && { disableGrpcWeb: true }),
      ...(gw.transformationEscapeCharacters && { escapeCharacters: true }),
      ...(gw.logTransformationRequestResponseInfo && { logTransformations: true }),
      ...(gw.jsonErrors && { jsonErrors: true }),
      ...(consoleOptions?.apiExplorerEnabled === false && { hidesApiExplorer: true }),
    }),
  });
}

type InvalidConfigPolicy = NonNullable<NonNullable<SettingsSpec['gw']>['invalidConfigPolicy']>;

function invalidRoutes(policy: InvalidConfigPolicy = {}): InvalidRoutes {
  if (policy.replaceInvalidRoutes === false) return { demoteErrors: false, status: 503, body: 'no healthy upstream' };
  return {
    demoteErrors: policy.replaceInvalidRoutes === true,
    status: policy.invalidRouteResponseCode || DEFAULTS.invalidRouteStatus,
    body: policy.invalidRouteResponseBody || REPLACEMENT_BODY,
  };
}
