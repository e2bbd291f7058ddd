import type { Memo } from '../memo.ts';
import { sameList } from '../lists.ts';
import type { TranslationInput } from '../input.ts';
import type { Origin, Resource } from '../../resource/resource.ts';
import type { Derived } from '../derived.ts';
import { freezeDeep } from './content.ts';
import type { Listener, Route, RouteAction, Snapshot, VirtualHost } from '../../contract/snapshot.ts';

const ORIGIN: Origin = Object.freeze({ file: 'translation', line: 1, column: 1 });
const LABELS = Object.freeze({ created_by: 'gw-gateway' });
/** Cluster of routes with a broken reference in a Proxy. */
const FALLBACK_CLUSTER = 'fallback_cluster_for_invalid_routes';

/** Returns the Proxy resources of the snapshots that have listeners, those of `memo` where nothing changed. */
export function proxiesOf(
  snapshots: ReadonlyMap<string, Snapshot>,
  { settings, derived }: Pick<TranslationInput, 'settings' | 'derived'>,
  memo: Memo | undefined,
): readonly Resource[] {
  const namespace = settings.writeNamespace;
  const proxies = [...snapshots.values()].flatMap((snapshot) => {
    if (snapshot.listeners.length === 0) return [];
    const isKnown = memo?.snapshots.get(snapshot.proxy)?.listeners === snapshot.listeners;
    const old = isKnown && memo.proxies.find(({ metadata }) => metadata.name === snapshot.proxy);
    return old && old.metadata.namespace === namespace ? old : proxyResource(snapshot, namespace, derived);
  });
  return sameList(proxies, memo?.proxies);
}

/**
 * Returns the Proxy resource of a snapshot: the same listeners in the shape of the resource. Its spec is made when it is read: it is as
 * large as the snapshot, and few read it.
 */
function proxyResource(snapshot: Snapshot, namespace: string, derived: Derived): Resource {
  let spec: object | undefined;
  return Object.freeze({
    apiVersion: 'gw.vendor.io/v1',
    kind: 'Proxy',
    metadata: freezeDeep({ name: snapshot.proxy, namespace, labels: LABELS }),
    get spec() {
      spec ??= freezeDeep({ listeners: snapshot.listeners.map((listener) => listenerSpec(listener, derived)) });
      return spec;
    },
    origin: ORIGIN,
  } satisfies Resource);
}

function listenerSpec(listener: Listener, derived: Derived): object {
  const { name, bindAddress, bindPort, options, routeOptions, httpOptions, sslConfigurations, virtualHosts } = listener;
  return {
    name,
    bindAddress,
    bindPort,
    ...(listener.useProxyProto && { useProxyProto: true }),
    options,
    routeOptions,
    sslConfigurations: sslConfigurations.map(({ sslConfig, sniDomains }) => ({ ...sslConfig, sniDomains })),
    metadataStatic: sources('Gateway', listener.gateway),
    httpListener: {
      virtualHosts: virtualHosts.map((host) => derived.of(virtualHostSpec, host)),
      options: httpOptions,
      statPrefix: 'http',
    },
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
      return { routeAction: forwardSpec(action.destinations) };
  }
}

function forwardSpec(destinations: Extract<RouteAction, { type: 'forward' }>['destinations']): object {
  const shares = destinations.map(({ upstream, weight, options, broken }) => ({
    destination: { upstream: broken ? FALLBACK_CLUSTER : upstream },
    weight,
    options,
  }));
  const [only] = shares;
  return shares.length === 1 && only ? { single: only.destination } : { multi: { destinations: shares } };
}

function sources(kind: string, { name, namespace }: { readonly name: string; readonly namespace: string }): object {
  return { sources: [{ resourceKind: `*v1.${kind}`, resourceRef: { name, namespace } }] };
}
