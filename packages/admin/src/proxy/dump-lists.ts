import { DEFAULT_SNAPSHOT_SETTINGS } from '@edge-gateway/core';
import type { DumpContext } from './envoy/dump-context.ts';
import { cluster, endpointConfig } from './envoy/cluster.ts';
import type { Message } from './envoy/json.ts';
import { listenerMessage } from './envoy/listener.ts';
import { routeConfigName, routeConfiguration } from './envoy/route-config.ts';
import { tlsSecrets } from './envoy/secrets.ts';
import { tlsSecretsOf } from './certificates.ts';
import { dumpPart, type DumpElement, type DumpPart } from './dump-part.ts';
import type { ProxyAdminOptions } from './options.ts';
import { nodeOf } from './server-info.ts';

/** Version and time that go with everything of the snapshot. */
interface Stamp {
  readonly version_info: string;
  readonly last_updated: string;
}

function stampOf({ snapshot, lastUpdated }: ProxyAdminOptions): Stamp {
  return { version_info: snapshot()?.version ?? '', last_updated: lastUpdated().toISOString() };
}

function contextOf({ context, snapshot }: ProxyAdminOptions): DumpContext {
  return { secrets: context.secrets, settings: snapshot()?.settings ?? DEFAULT_SNAPSHOT_SETTINGS };
}

/** How this process was started. */
export function bootstrapDump({ info, snapshot }: ProxyAdminOptions): DumpPart {
  const bootstrap = { node: nodeOf(snapshot()?.proxy) };
  const last_updated = new Date(info.startedAt).toISOString();
  return dumpPart({ type: 'BootstrapConfigDump', elementTypes: {}, fields: { bootstrap, last_updated } });
}

/** Every upstream. */
export function clustersDump(options: ProxyAdminOptions): DumpPart {
  const stamp = stampOf(options);
  const upstreams = options.snapshot()?.upstreams ?? [];
  const active = upstreams.map((upstream): DumpElement => {
    const value = (): Message => ({ ...stamp, cluster: cluster(upstream, options.context.secrets) });
    return { name: upstream.name, value };
  });
  return dumpPart({
    type: 'ClustersConfigDump',
    fields: { version_info: stamp.version_info },
    elementTypes: {
      static_clusters: 'StaticCluster',
      dynamic_active_clusters: 'DynamicCluster',
      dynamic_warming_clusters: 'DynamicCluster',
    },
    lists: { dynamic_active_clusters: active },
  });
}

/** The endpoints of every upstream. */
export function endpointsDump({ snapshot }: ProxyAdminOptions): DumpPart {
  const endpoints = (snapshot()?.upstreams ?? []).map((upstream): DumpElement => ({
    name: upstream.name,
    value: () => ({ endpoint_config: endpointConfig(upstream) }),
  }));
  return dumpPart({
    type: 'EndpointsConfigDump',
    elementTypes: {
      static_endpoint_configs: 'StaticEndpointConfig',
      dynamic_endpoint_configs: 'DynamicEndpointConfig',
    },
    lists: { dynamic_endpoint_configs: endpoints },
  });
}

/** Every listener. */
export function listenersDump(options: ProxyAdminOptions): DumpPart {
  const stamp = stampOf(options);
  const context = contextOf(options);
  const listeners = (options.snapshot()?.listeners ?? []).map((listener): DumpElement => {
    const { name } = listener;
    const active = (): Message => ({ ...stamp, listener: listenerMessage(listener, context) });
    return { name, value: () => ({ name, active_state: active() }) };
  });
  return dumpPart({
    type: 'ListenersConfigDump',
    fields: { version_info: stamp.version_info },
    elementTypes: { static_listeners: 'StaticListener', dynamic_listeners: 'DynamicListener' },
    lists: { dynamic_listeners: listeners },
  });
}

/** There are no scoped routes. */
export function scopedRoutesDump(): DumpPart {
  return dumpPart({
    type: 'ScopedRoutesConfigDump',
    elementTypes: {
      inline_scoped_route_configs: 'InlineScopedRouteConfigs',
      dynamic_scoped_route_configs: 'DynamicScopedRouteConfigs',
    },
  });
}

/** The routes of every listener. */
export function routesDump(options: ProxyAdminOptions): DumpPart {
  const stamp = stampOf(options);
  const context = contextOf(options);
  const configurations = (options.snapshot()?.listeners ?? []).map((listener): DumpElement => {
    const value = (): Message => ({ ...stamp, route_config: routeConfiguration(listener, context) });
    return { name: routeConfigName(listener), value };
  });
  return dumpPart({
    type: 'RoutesConfigDump',
    elementTypes: { static_route_configs: 'StaticRouteConfig', dynamic_route_configs: 'DynamicRouteConfig' },
    lists: { dynamic_route_configs: configurations },
  });
}

/** The certificates in use, keys redacted. */
export function secretsDump(options: ProxyAdminOptions): DumpPart {
  const stamp = stampOf(options);
  const { secrets } = options.context;
  const active = tlsSecretsOf(options.snapshot()).flatMap((ref) =>
    tlsSecrets(ref, secrets).map((secret): DumpElement => {
      const name = String(secret['name']);
      return { name, value: () => ({ name, ...stamp, secret }) };
    }),
  );
  return dumpPart({
    type: 'SecretsConfigDump',
    elementTypes: {
      static_secrets: 'StaticSecret',
      dynamic_active_secrets: 'DynamicSecret',
      dynamic_warming_secrets: 'DynamicSecret',
    },
    lists: { dynamic_active_secrets: active },
  });
}
