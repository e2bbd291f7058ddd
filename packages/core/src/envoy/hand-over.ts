import type {
  Destination,
  Listener,
  Route,
  SnapshotSettings,
  SnapshotUpstream,
  TlsConfiguration,
  VirtualHost,
} from '../contract/snapshot.ts';
import { canonicalName } from '../http/reserved-headers.ts';
import { inEffect } from '../schema/in-effect.ts';
import { unfaithfulFields, type FormContext } from './forms/form.ts';
import { HTTP_LISTENER_FORMS, LISTENER_FORMS, ROUTE_CONFIG_FORMS, TLS_FORMS } from './forms/listener-forms.ts';
import {
  DESTINATION_FORMS,
  isExpressedLimit,
  MATCHER_FORMS,
  REDIRECT_FORMS,
  ROUTE_FORMS,
  VIRTUAL_HOST_FORMS,
} from './forms/route-forms.ts';
import { usageOfHost } from './filter-usage.ts';
import { guardedHeaders } from './guarded-headers.ts';
import { configsOf, hasGlobalLimits } from './served-limits.ts';
import { reasonsOfKey } from './certificate-keys.ts';
import { certificateNamesOf, certificateOf, serverNamesOf } from './tls.ts';
import { UPSTREAM_FORMS, UPSTREAM_TLS_FORMS } from './forms/upstream-forms.ts';

/** The options that Envoy cannot express, as paths such as `options.dlp`; empty if it serves the part itself. */
export type Reasons = readonly string[];

/** The reasons of a part that Envoy serves itself. */
export const NO_REASONS: Reasons = Object.freeze([]);

/** The input for decisions about a virtual host. */
export interface HostContext extends FormContext {
  /** Returns the reasons of an upstream. */
  readonly reasonsOf: (upstream: string) => Reasons;
}

/**
 * Returns the reasons of each route of a virtual host. A route that Envoy cannot express completely is handed over as a whole. Header
 * changes of the virtual host apply to all of its routes, so they are handed over together.
 */
export function reasonsOfRoutes(host: VirtualHost, context: HostContext): readonly Reasons[] {
  const shared = unfaithfulFields(inEffect('VirtualHostOptions', host.options), VIRTUAL_HOST_FORMS, context).map(
    (field) => `virtualHost.options.${field}`,
  );
  const headers = reasonsOfHeaders(host, context);
  const own = host.routes.map((route) => [
    ...shared,
    ...headers,
    ...reasonsOfRoute(route, context),
    ...reasonsOfLimits(route, host),
  ]);
  const common = COMMON_OPTIONS.filter((option) => host.options[option] !== undefined);
  if (common.length === 0 || own.every(({ length }) => length === 0)) return own;
  return own.map((reasons) =>
    reasons.length > 0 ? reasons : common.map((option) => `virtualHost.options.${option} beside a route handed over`),
  );
}

/**
 * Returns the matchers by headers that authentication sets. Envoy selects the route by the headers of the client, and if it selects another one
 * later, the policies of that one do not run.
 */
function reasonsOfHeaders(host: VirtualHost, { settings }: FormContext): string[] {
  const matched = new Set(
    host.routes.flatMap(({ matchers }) => matchers.flatMap(({ headers = [] }) => headers.map(({ name = '' }) => name))),
  );
  if (matched.size === 0) return [];
  // An auth server may set any header.
  const sets = settings.extauth?.clearRouteCache && usageOfHost(host).has('extauth');
  const guarded = new Set([...guardedHeaders(host, settings)].map(canonicalName));
  const found = [...matched].filter((name) => sets || guarded.has(canonicalName(name)));
  return found.sort().map((name) => `matchers.headers ${name}, which authentication sets`);
}

/** Options of a virtual host that Envoy also applies to the routes that it hands over. */
const COMMON_OPTIONS = [
  'headerManipulation',
  'includeRequestAttemptCount',
  'includeAttemptCountInResponse',
] as const satisfies readonly (keyof VirtualHost['options'])[];

function reasonsOfRoute({ options, matchers, action }: Route, context: HostContext): string[] {
  const mirror = options.shadowing?.upstream;
  return [
    ...prefixed('options', unfaithfulFields(inEffect('RouteOptions', options), ROUTE_FORMS, context)),
    ...matchers.flatMap((matcher) => prefixed('matchers', unfaithfulFields(matcher, MATCHER_FORMS, context))),
    ...(mirror ? upstreamReasons(`${mirror.name}_${mirror.namespace}`, context) : []),
    ...reasonsOfAction(action, context),
  ];
}

/** Returns what Envoy does not express of the limits of a route and its virtual host together. */
function reasonsOfLimits(route: Route, host: VirtualHost): string[] {
  if (!hasGlobalLimits(route, host)) return [];
  const { type } = route.action;
  const known = new Map(host.rateLimitConfigs.map(({ ref, spec }) => [`${ref.namespace}.${ref.name}`, spec]));
  const configs = configsOf(route, host).flatMap((name) => {
    const isExpressed = known.get(name)?.raw?.rateLimits?.every(isExpressedLimit) ?? known.has(name);
    return isExpressed ? [] : [`RateLimitConfig ${name}`];
  });
  return [...configs, ...(type === 'forward' ? [] : ['rate limits without an upstream'])];
}

function reasonsOfAction(action: Route['action'], context: HostContext): readonly string[] {
  switch (action.type) {
    case 'graphql':
      return ['graphqlApiRef'];
    case 'redirect':
      return prefixed('redirectAction', unfaithfulFields(action.redirect, REDIRECT_FORMS, context));
    case 'forward':
      return action.destinations.flatMap((each) => reasonsOfDestination(each, action.destinations.length, context));
    default:
      return [];
  }
}

function reasonsOfDestination(destination: Destination, count: number, context: HostContext): readonly string[] {
  const { dynamic, rest, transcoder, broken, options, upstream } = destination;
  // A header could also name clusters that are no upstreams.
  if (dynamic)
    return [dynamic.type === 'clusterHeader' ? 'routeAction.clusterHeader' : 'routeAction.dynamicForwardProxy'];
  return [
    ...(rest ? ['destinationSpec.rest'] : []),
    ...(transcoder ? ['grpcJsonTranscoder'] : []),
    ...(broken && count > 1 ? ['a broken destination among others'] : []),
    ...prefixed('options', unfaithfulFields(options, DESTINATION_FORMS, context)),
    ...(broken ? [] : upstreamReasons(upstream, context)),
  ];
}

function upstreamReasons(upstream: string, { reasonsOf }: HostContext): string[] {
  return reasonsOf(upstream).map((reason) => `upstream ${upstream}: ${reason}`);
}

/** Returns the reasons of an upstream, whose routes are then handed over. */
export function reasonsOfUpstream(upstream: SnapshotUpstream, context: FormContext): Reasons {
  const { spec, endpoints, tls } = upstream;
  const own = endpoints.flatMap(({ sslConfig }) =>
    sslConfig ? ['failover.upstreamSslConfig', ...unfaithfulFields(sslConfig, UPSTREAM_TLS_FORMS, context)] : [],
  );
  return [
    ...prefixed('', unfaithfulFields(inEffect('UpstreamSpec', spec), UPSTREAM_FORMS, context)),
    ...new Set(own),
    ...(tls ? namesReasons(upstream) : []),
  ];
}

/** Envoy has one server name for all hosts, and compares their certificates with it. */
function namesReasons(upstream: SnapshotUpstream): string[] {
  if (serverNamesOf(upstream).size > 1) return ['sslConfig with hosts of different server names'];
  const isVerified = (upstream.spec.sslConfig?.verifySubjectAltName ?? []).length > 0;
  return isVerified || certificateNamesOf(upstream).size <= 1
    ? []
    : ['sslConfig without sni and verifySubjectAltName for several addresses'];
}

/** Returns the reasons of a listener, all of whose connections are then handed over. */
export function reasonsOfListener(listener: Listener, context: FormContext): Reasons {
  const { options, httpOptions, routeOptions, sslConfigurations, parts } = listener;
  return [
    ...prefixed('options', unfaithfulFields(inEffect('ListenerOptions', options), LISTENER_FORMS, context)),
    ...prefixed(
      'httpGateway.options',
      unfaithfulFields(inEffect('HttpListenerOptions', httpOptions), HTTP_LISTENER_FORMS, context),
    ),
    ...prefixed(
      'routeOptions',
      unfaithfulFields(inEffect('RouteConfigOptions', routeOptions), ROUTE_CONFIG_FORMS, context),
    ),
    ...sslConfigurations.flatMap((each) => reasonsOfTls(each, context)),
    ...(parts ? ['tcpGateway, hybridGateway or several server names'] : []),
    ...globalReasons(httpOptions, context.settings),
  ];
}

/**
 * Returns why a listener is handed over if one of its TLS configurations requires client certificates: Envoy would serve its hosts over
 * connections that were made with the name of another one.
 */
export function reasonsOfCertificates({ sslConfigurations }: Listener, asksForCertificate: boolean): Reasons {
  return asksForCertificate && sslConfigurations.length > 1
    ? ['sslConfig with client certificates beside another sslConfig']
    : NO_REASONS;
}

/** Returns the reasons of one TLS configuration of a listener. */
export function reasonsOfTls({ sslConfig, sniDomains }: TlsConfiguration, context: FormContext): Reasons {
  return [
    ...prefixed('sslConfig', unfaithfulFields(inEffect('SslConfig', sslConfig), TLS_FORMS, context)),
    ...keyReasons(sslConfig, context),
    ...(sniDomains.every((name) => SERVER_NAME.test(name)) ? [] : ['sslConfig.sniDomains']),
  ];
}

function keyReasons(config: TlsConfiguration['sslConfig'], { secrets }: FormContext): Reasons {
  return secrets ? reasonsOfKey(certificateOf(config, secrets)) : NO_REASONS;
}

/** Envoy accepts no other wildcards in server names. */
const SERVER_NAME = /^(?:\*\.)?[^*]+$/;

/** Settings that apply to all listeners. */
function globalReasons(options: Listener['httpOptions'], settings: SnapshotSettings): string[] {
  const stages = [
    ['extProc', 'disableExtProc'],
    ['extProcEarly', 'disableExtProcEarly'],
    ['extProcLate', 'disableExtProcLate'],
  ] as const;
  return stages.flatMap(([stage, disable]) => (settings[stage] && !options[disable] ? [`Settings ${stage}`] : []));
}

/**
 * Returns why a listener is handed over as a whole once one of its routes is: the Node proxy could not see the certificate of the client, or
 * would take Envoy for one of the trusted proxies.
 */
export function wholeListenerReasons(
  { httpOptions, sslConfigurations }: Listener,
  asksForCertificate: boolean,
): Reasons {
  const {
    xffNumTrustedHops = 0,
    useRemoteAddress = true,
    skipXffAppend,
  } = httpOptions.httpConnectionManagerSettings ?? {};
  return [
    ...(sslConfigurations.length > 0 && asksForCertificate ? ['client certificates'] : []),
    ...(xffNumTrustedHops > 0 || !useRemoteAddress || skipXffAppend ? ['trusted x-forwarded-for'] : []),
  ];
}

const prefixed = (prefix: string, fields: readonly string[]): string[] =>
  prefix === '' ? [...fields] : fields.map((field) => `${prefix}.${field}`);
