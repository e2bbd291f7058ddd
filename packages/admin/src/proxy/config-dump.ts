import { DEFAULT_SNAPSHOT_SETTINGS, httpListenersOf, type Listener } from '@edge-gateway/core';
import {
  cluster,
  endpointConfig,
  listenerMessage,
  routeConfigName,
  routeConfiguration,
  tlsSecrets,
  virtualHost,
  type EnvoyMessage,
} from '@edge-gateway/core/envoy';
import { json, type EndpointResponse } from '../http/endpoint-response.ts';
import { isOn, type Endpoint } from '../http/endpoint.ts';
import { lazily } from '../http/json-chunks.ts';
import { tlsSecretsOf } from './used-certificates.ts';
import { applyMask, parseMask, type FieldMask } from './field-mask.ts';
import type { ProxyAdminOptions } from './proxy-options.ts';
import { nodeOf } from './server.ts';
import { readRegex } from './stat-selection.ts';

const DUMP = 'type.googleapis.com/envoy.admin.v3.';

/** One element of a list, under the name that `name_regex` looks at. */
interface DumpElement {
  readonly name: string;
  value(): EnvoyMessage;
}

/** One member of `configs`. */
interface DumpPart {
  /** E.g. `ClustersConfigDump`. */
  readonly type: string;
  /** Fields beside the lists. */
  readonly fields?: EnvoyMessage;
  /** List name → type of its elements and the elements, which all but one list of a part do not have. */
  readonly lists: Readonly<Record<string, readonly [type: string, elements?: readonly DumpElement[]]>>;
}

/** `/config_dump`: what is served, as Envoy's v3 API describes it; keys redacted. */
export function configDump(options: ProxyAdminOptions): Endpoint {
  return {
    paths: ['/config_dump'],
    help: 'the served configuration',
    parameters: [
      { name: 'resource', help: 'only this list, e.g. dynamic_active_clusters' },
      { name: 'mask', help: 'only these fields, separated by commas, e.g. cluster.name' },
      { name: 'name_regex', help: 'only resources whose name matches this RE2 expression' },
      { name: 'include_eds', help: 'endpoints as well', flag: true },
    ],
    respond: (parameters) => {
      const pattern = parameters.get('name_regex');
      const regex = pattern ? readRegex(pattern) : undefined;
      const fits = ({ name }: DumpElement): boolean => regex?.fullMatch(name) ?? true;
      const parts = dumpParts(options, isOn(parameters, 'include_eds'));
      const mask = parseMask(parameters.get('mask') ?? '');
      const resource = parameters.get('resource');
      if (resource) return oneList(parts, resource, { mask, fits });
      return json({ configs: lazily(parts, (part) => contentOf(part, { mask, fits })) });
    },
  };
}

interface Selection {
  readonly mask: FieldMask;
  fits(element: DumpElement): boolean;
}

function contentOf({ type, fields = {}, lists }: DumpPart, { mask, fits }: Selection): EnvoyMessage {
  const filled = Object.entries(lists).flatMap(([list, [, elements = []]]) => {
    const kept = elements.filter(fits);
    return kept.length > 0 ? [[list, lazily(kept, (element) => element.value())] as const] : [];
  });
  return { '@type': DUMP + type, ...(applyMask({ ...fields, ...Object.fromEntries(filled) }, mask) as object) };
}

function oneList(parts: readonly DumpPart[], resource: string, { mask, fits }: Selection): EndpointResponse {
  const part = parts.find(({ lists }) => Object.hasOwn(lists, resource));
  if (!part) return { status: 404, body: `${resource} not found in config dump` };
  const [type, elements = []] = part.lists[resource]!;
  const kept = elements.filter(fits);
  const configs = lazily(kept, (element) => ({
    '@type': `${DUMP}${part.type}.${type}`,
    ...(applyMask(element.value(), mask) as object),
  }));
  return json(kept.length > 0 ? { configs } : {});
}

/** Returns the parts in the order of Envoy. */
function dumpParts(options: ProxyAdminOptions, withEndpoints: boolean): DumpPart[] {
  const snapshot = options.snapshot();
  const stamp = { version_info: snapshot?.version ?? '', last_updated: options.lastUpdated().toISOString() };
  return [
    {
      type: 'BootstrapConfigDump',
      fields: {
        bootstrap: { node: nodeOf(snapshot?.proxy) },
        last_updated: new Date(options.info.startedAt).toISOString(),
      },
      lists: {},
    },
    ...upstreamParts(options, stamp).slice(0, withEndpoints ? 2 : 1),
    ...listenerParts(options, stamp),
    secretsPart(options, stamp),
  ];
}

/** Version and time, which every element of the snapshot has. */
interface Stamp {
  readonly version_info: string;
  readonly last_updated: string;
}

/** Returns the part with every upstream, and the part with their endpoints. */
function upstreamParts({ context, snapshot }: ProxyAdminOptions, stamp: Stamp): DumpPart[] {
  const upstreams = snapshot()?.upstreams ?? [];
  const clusters = upstreams.map((upstream) => ({
    name: upstream.name,
    value: () => ({ ...stamp, cluster: cluster(upstream, context) }),
  }));
  const endpoints = upstreams.map((upstream) => ({
    name: upstream.name,
    value: () => ({ endpoint_config: endpointConfig(upstream) }),
  }));
  return [
    {
      type: 'ClustersConfigDump',
      fields: { version_info: stamp.version_info },
      lists: {
        static_clusters: ['StaticCluster'],
        dynamic_active_clusters: ['DynamicCluster', clusters],
        dynamic_warming_clusters: ['DynamicCluster'],
      },
    },
    {
      type: 'EndpointsConfigDump',
      lists: {
        static_endpoint_configs: ['StaticEndpointConfig'],
        dynamic_endpoint_configs: ['DynamicEndpointConfig', endpoints],
      },
    },
  ];
}

/** Returns the parts with every listener, with scoped routes, which do not exist, and with the routes of every listener. */
function listenerParts({ context, snapshot }: ProxyAdminOptions, stamp: Stamp): DumpPart[] {
  const parts = { secrets: context.secrets, settings: snapshot()?.settings ?? DEFAULT_SNAPSHOT_SETTINGS };
  const all = snapshot()?.listeners ?? [];
  const listeners = all.map((listener) => ({
    name: listener.name,
    value: () => ({ name: listener.name, active_state: { ...stamp, listener: listenerMessage(listener, parts) } }),
  }));
  const routes = httpListenersOf(all).map((listener) => ({
    name: routeConfigName(listener),
    value: () => ({ ...stamp, route_config: routeConfiguration(listener, hostsOf(listener, parts), parts) }),
  }));
  return [
    {
      type: 'ListenersConfigDump',
      fields: { version_info: stamp.version_info },
      lists: { static_listeners: ['StaticListener'], dynamic_listeners: ['DynamicListener', listeners] },
    },
    {
      type: 'ScopedRoutesConfigDump',
      lists: {
        inline_scoped_route_configs: ['InlineScopedRouteConfigs'],
        dynamic_scoped_route_configs: ['DynamicScopedRouteConfigs'],
      },
    },
    {
      type: 'RoutesConfigDump',
      lists: { static_route_configs: ['StaticRouteConfig'], dynamic_route_configs: ['DynamicRouteConfig', routes] },
    },
  ];
}

/** Returns the virtual hosts of a listener, which are made while they are written. */
function hostsOf(
  { virtualHosts }: Listener,
  parts: Parameters<typeof virtualHost>[1],
): Iterable<EnvoyMessage> | undefined {
  return virtualHosts.length > 0 ? lazily(virtualHosts, (host) => virtualHost(host, parts)) : undefined;
}

/** Returns the part with the certificates in use. */
function secretsPart({ context, snapshot }: ProxyAdminOptions, stamp: Stamp): DumpPart {
  const active = tlsSecretsOf(snapshot()).flatMap((ref) =>
    tlsSecrets(ref, context.secrets).map((secret) => {
      const name = String(secret['name']);
      return { name, value: () => ({ name, ...stamp, secret }) };
    }),
  );
  return {
    type: 'SecretsConfigDump',
    lists: {
      static_secrets: ['StaticSecret'],
      dynamic_active_secrets: ['DynamicSecret', active],
      dynamic_warming_secrets: ['DynamicSecret'],
    },
  };
}
