import { DEFAULT_NAMESPACE } from '../resource/resource.ts';
import type { SettingsSpec } from '../schema/kind/settings.ts';
import type { SnapshotSettings } from '../contract/snapshot.ts';
import type { StoreState } from '../control/store.ts';
import { find } from './world.ts';

/** Name of the Settings that count; they lie in the default namespace. */
export const SETTINGS_NAME = 'default';
/** Code of the replacement response unless `invalidRouteResponseCode` says otherwise. */
export const REPLACEMENT_STATUS = 404;
/** Body of the replacement response unless `invalidRouteResponseBody` says otherwise. */
export const REPLACEMENT_BODY = 'The requested resource is not available.';
/** Largest size of a compiled regular expression, in instructions, unless `gw.regexMaxProgramSize` says otherwise. */
export const REGEX_MAX_PROGRAM_SIZE = 1024;

/** What translation takes from Settings, with all defaults filled in. */
export interface TranslationSettings {
  /** Where Gateways are read from and Proxies are written to. */
  readonly writeNamespace: string;
  readonly readGatewaysFromAllNamespaces: boolean;
  readonly translateEmptyGateways: boolean;
  readonly isolateVirtualHosts: boolean;
  /** Default of `sslConfig.oneWayTls`; `undefined` leaves it as it is. */
  readonly oneWayTls: boolean | undefined;
  /** Default of `appendXForwardedHost`; `undefined` leaves it as it is. */
  readonly appendXForwardedHost: boolean | undefined;
  readonly warnShortCircuits: boolean;
  readonly warnMissingTlsSecret: boolean;
  /** Whether templates are tried when they are read. */
  readonly validateTransformations: boolean;
  readonly regexMaxProgramSize: number;
  readonly invalidRoutes: InvalidRoutes;
  /** What the data plane needs. */
  readonly served: SnapshotSettings;
}

/** How a route with a broken reference answers. */
export interface InvalidRoutes {
  /** True only when `replaceInvalidRoutes` is written: then errors of a route cost the route and not the virtual host. */
  readonly demoteErrors: boolean;
  readonly status: number;
  readonly body: string;
}

const cache = new WeakMap<SettingsSpec, TranslationSettings>();
const DEFAULTS = settingsOf({});
/** Nobody can tell what refused Settings ask for. */
const CLOSED = settingsOf({ rbac: { requireRbac: true } });

/** The settings in use. The same object as long as the resource is the same. */
export function readSettings(stored: StoreState['stored']): TranslationSettings {
  const found = find<SettingsSpec>(stored, 'Settings', { namespace: DEFAULT_NAMESPACE, name: SETTINGS_NAME });
  if (found.state === 'missing') return DEFAULTS;
  if (found.state === 'refused') return CLOSED;
  const { spec } = found.resource;
  const known = cache.get(spec);
  if (known) return known;
  const settings = settingsOf(spec);
  cache.set(spec, settings);
  return settings;
}

function settingsOf({ discoveryNamespace, gateway = {}, gw = {}, extauth, rbac }: SettingsSpec): TranslationSettings {
  return Object.freeze({
    writeNamespace: discoveryNamespace || DEFAULT_NAMESPACE,
    readGatewaysFromAllNamespaces: gateway.readGatewaysFromAllNamespaces ?? false,
    translateEmptyGateways: gateway.translateEmptyGateways ?? false,
    isolateVirtualHosts: gateway.isolateVirtualHostsBySslConfig ?? false,
    oneWayTls: gateway.virtualServiceOptions?.oneWayTls,
    appendXForwardedHost: gw.istioOptions?.appendXForwardedHost,
    warnShortCircuits: gateway.validation?.warnRouteShortCircuiting ?? false,
    warnMissingTlsSecret: gateway.validation?.warnMissingTlsSecret ?? true,
    validateTransformations: gateway.validation?.disableTransformationValidation !== true,
    regexMaxProgramSize: gw.regexMaxProgramSize || REGEX_MAX_PROGRAM_SIZE,
    invalidRoutes: invalidRoutes(gw.invalidConfigPolicy),
    served: Object.freeze({
      ...(extauth && { extauth }),
      requireRbac: rbac?.requireRbac ?? false,
      ...(gw.transformationEscapeCharacters && { escapeCharacters: true }),
    }),
  });
}

type InvalidConfigPolicy = NonNullable<NonNullable<SettingsSpec['gw']>['invalidConfigPolicy']>;

function invalidRoutes(policy: InvalidConfigPolicy = {}): InvalidRoutes {
  if (policy.replaceInvalidRoutes === false) return { demoteErrors: false, status: 503, body: 'no healthy upstream' };
  return {
    demoteErrors: policy.replaceInvalidRoutes === true,
    status: policy.invalidRouteResponseCode || REPLACEMENT_STATUS,
    body: policy.invalidRouteResponseBody || REPLACEMENT_BODY,
  };
}
