import type { Memo } from '../memo.ts';
import { sameList } from '../lists.ts';
import type { TranslationInput } from '../input.ts';
import { GATEWAY_API_LABELS, isFromGatewayApi } from '../../resource/generated.ts';
import { keyOf, type Metadata, type Origin, type Resource } from '../../resource/resource.ts';
import type { Derived } from '../derived.ts';
import { redact } from '../../security/redact.ts';
import { compressSpec } from '../../syntax/compressed-spec.ts';
import { freezeDeep } from './content.ts';
import type {
  ConnectionMatch,
  Listener,
  ListenerPart,
  Route,
  RouteAction,
  Snapshot,
  TcpDestination,
  TcpHost,
  VirtualHost,
} from '../../contract/snapshot.ts';

const ORIGIN: Origin = Object.freeze({ file: 'translation', line: 1, column: 1 });
const LABELS = Object.freeze({ created_by: 'gw-gateway' });

function labelsOf({ listeners }: Snapshot, stored: TranslationInput['stored']): Readonly<Record<string, string>> {
  const gateways = listeners.map(({ gateway }) => stored.get(keyOf('Gateway', gateway))?.resource);
  return gateways.every((gateway) => gateway && isFromGatewayApi(gateway.metadata)) ? GATEWAY_API_LABELS : LABELS;
}
/** Cluster of routes with a broken reference in a Proxy. */
const FALLBACK_CLUSTER = 'fallback_cluster_for_invalid_routes';
/** Proxies whose spec is compressed. */
const compressed = new WeakSet<Resource>();

/** Returns the Proxy resources of the snapshots that have listeners, those of `memo` where nothing changed. */
export function proxiesOf(
  snapshots: ReadonlyMap<string, Snapshot>,
  { settings, derived, stored }: Pick<TranslationInput, 'settings' | 'derived' | 'stored'>,
  memo: Memo | undefined,
): readonly Resource[] {
  const { writeNamespace: namespace, compressedProxySpec: isCompressed } = settings;
  const proxies = [...snapshots.values()].flatMap((snapshot) => {
    if (snapshot.listeners.length === 0) return [];
    const isKnown = memo?.snapshots.get(snapshot.proxy)?.listeners === snapshot.listeners;
    const old = isKnown && memo.proxies.find(({ metadata }) => metadata.name === snapshot.proxy);
    if (old && old.metadata.namespace === namespace && compressed.has(old) === isCompressed) return old;
    const metadata = { name: snapshot.proxy, namespace, labels: labelsOf(snapshot, stored) };
    const proxy = proxyResource(snapshot, metadata, specReader(derived, isCompressed));
    if (isCompressed) compressed.add(proxy);
    return proxy;
  });
  return sameList(proxies, memo?.proxies);
}

/**
 * Returns a function that makes the spec of listeners. A proxy keeps it, so it must not refer to the translation: through the memo, all earlier translations
 * would stay in memory.
 */
function specReader(derived: Derived, isCompressed: boolean): (listeners: Snapshot['listeners']) => object {
  return (listeners) => {
    const spec = { listeners: listeners.map((listener) => listenerSpec(listener, derived)) };
    // Its secrets could not be redacted later.
    return isCompressed ? { compressedSpec: compressSpec(redact(spec)) } : spec;
  };
}

/**
 * Returns the Proxy resource of a snapshot: the same listeners in the shape of the resource. Its spec is made when it is read: it is as
 * large as the snapshot, and few read it.
 */
function proxyResource(
  snapshot: Snapshot,
  metadata: Metadata,
  specOf: (listeners: Snapshot['listeners']) => object,
): Resource {
  let spec: object | undefined;
  return Object.freeze({
    apiVersion: 'gw.vendor.io/v1',
    kind: 'Proxy',
    metadata: freezeDeep(metadata),
    get spec() {
      spec ??= freezeDeep(specOf(snapshot.listeners));
      return spec;
    },
    origin: ORIGIN,
  } satisfies Resource);
}

function listenerSpec(listener: Listener, derived: Derived): object {
  const { name, bindAddress, bindPort, options, routeOptions, sslConfigurations, parts = [], type } = listener;
  return {
    name,
    bindAddress,
    bindPort,
    ...(listener.useProxyProto && { useProxyProto: true }),
    options,
    routeOptions,
    sslConfigurations: certificates(sslConfigurations),
    metadataStatic: sources('Gateway', listener.gateway),
    ...(type === undefined && { httpListener: httpSpec(listener, derived) }),
    ...(type === 'tcp' && {
      tcpListener: tcpSpec(
        parts.flatMap(({ tcp }) => tcp ?? []),
        parts,
      ),
    }),
    ...(type === 'hybrid' && {
      hybridListener: { matchedListeners: parts.map((part) => matchedListener(part, derived)) },
    }),
    ...(type === 'aggregate' && { aggregateListener: aggregateSpec(parts, derived) }),
  };
}

const STAT_PREFIXES = { http: 'http', tcp: 'tcp' } as const;

function certificates(configurations: Listener['sslConfigurations']): readonly object[] {
  return configurations.map(({ sslConfig, sniDomains }) => ({ ...sslConfig, sniDomains }));
}

function httpSpec({ virtualHosts, httpOptions }: Listener, derived: Derived): object {
  return {
    virtualHosts: virtualHosts.map((host) => derived.of(virtualHostSpec, host)),
    options: httpOptions,
    statPrefix: STAT_PREFIXES.http,
  };
}

function tcpSpec(hosts: readonly TcpHost[], parts: readonly ListenerPart[]): object {
  const tcpHosts = parts.flatMap(({ tcp, match }) => (tcp ? [tcpHostSpec(tcp, match)] : []));
  return { tcpHosts, options: hosts[0]?.options ?? {}, statPrefix: STAT_PREFIXES.tcp };
}

function tcpHostSpec({ name, destinations, forwardsServerName, sslConfigurations }: TcpHost, match: ConnectionMatch) {
  const [configuration] = sslConfigurations;
  return {
    name,
    ...(match.tls && { sslConfig: { ...configuration?.sslConfig, sniDomains: match.serverNames } }),
    destination: forwardsServerName ? { forwardSniClusterName: {} } : sharesSpec(destinations),
  };
}

function matchedListener({ match, http, tcp }: ListenerPart, derived: Derived): object {
  const part = { match, ...(tcp && { tcp }) };
  return {
    matcher: matcherSpec(match),
    ...(http && { httpListener: httpSpec(http, derived), sslConfigurations: certificates(http.sslConfigurations) }),
    ...(tcp && { tcpListener: tcpSpec([tcp], [{ ...part, name: '' }]) }),
  };
}

function matcherSpec({ tls, serverNames, sourceRanges, passthroughCiphers }: ConnectionMatch): object {
  return {
    ...(tls && { sslConfig: { sniDomains: serverNames } }),
    ...(sourceRanges.length > 0 && { sourcePrefixRanges: sourceRanges }),
    ...(passthroughCiphers.length > 0 && { passthroughCipherSuites: passthroughCiphers }),
  };
}

/** Virtual hosts and options by name, and the chains that refer to them. */
function aggregateSpec(parts: readonly ListenerPart[], derived: Derived): object {
  const listeners = parts.flatMap(({ match, http }) => (http ? [{ match, http }] : []));
  const hosts = listeners.flatMap(({ http }) => http.virtualHosts);
  return {
    httpResources: {
      virtualHosts: Object.fromEntries(hosts.map((host) => [host.name, derived.of(virtualHostSpec, host)])),
      httpOptions: Object.fromEntries(listeners.map(({ http }) => [http.name, http.httpOptions])),
    },
    httpFilterChains: listeners.map(({ match, http }) => ({
      matcher: matcherSpec(match),
      httpOptionsRef: http.name,
      virtualHostRefs: http.virtualHosts.map(({ name }) => name),
    })),
  };
}

function virtualHostSpec(host: VirtualHost): object {
  const { name, domains, options } = host;
  const routes = host.routes.map(routeSpec);
  return freezeDeep({
    name,
    domains,
    routes,
    options,
    metadataStatic: sources('VirtualService', host.virtualService),
  });
}

function routeSpec({ name, matchers, options, action, source }: Route): object {
  return { name, matchers, ...actionSpec(action), options, metadataStatic: sources(source.kind, source) };
}

const single = (upstream: string) => ({ single: { upstream } });

function actionSpec(action: RouteAction): object {
  switch (action.type) {
    case 'redirect':
      return { redirectAction: action.redirect };
    case 'direct':
      return { directResponseAction: { status: action.status, body: action.body } };
    case 'graphql':
      return { graphqlApiRef: action.api };
    case 'replacement':
      return { routeAction: single(FALLBACK_CLUSTER) };
    case 'forward':
      return { routeAction: sharesSpec(action.destinations) };
  }
}

interface Share extends Pick<TcpDestination, 'upstream' | 'weight'> {
  readonly options?: object;
  readonly broken?: unknown;
}

function sharesSpec(destinations: readonly Share[]): object {
  const shares = destinations.map(({ upstream, weight, options, broken }) => ({
    destination: { upstream: broken === undefined ? upstream : FALLBACK_CLUSTER },
    weight,
    ...(options && { options }),
  }));
  const [only] = shares;
  return shares.length === 1 && only ? { single: only.destination } : { multi: { destinations: shares } };
}

function sources(kind: string, { name, namespace }: { readonly name: string; readonly namespace: string }): object {
  return { sources: [{ resourceKind: `*v1.${kind}`, resourceRef: { name, namespace } }] };
}
