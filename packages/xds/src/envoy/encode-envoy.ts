import { hash, X509Certificate } from 'node:crypto';
import {
  certificateBlocks,
  secretText,
  type Listener,
  type ResourceRef,
  type Secrets,
  type SecretValue,
  type SnapshotSettings,
  type SnapshotUpstream,
  type VirtualHost,
} from '@edge-gateway/core';
import {
  AUTH_CLUSTER,
  certificateOf,
  cluster,
  grpcCluster,
  handedOverHost,
  handedOverListener,
  hasNames,
  httpFilters,
  LIMIT_CLUSTER,
  listenerMessage,
  loadAssignment,
  NO_REASONS,
  nodeCluster,
  nodeClusterName,
  nodeTcpCluster,
  reasonsOfCertificates,
  reasonsOfKey,
  reasonsOfListener,
  reasonsOfRoutes,
  reasonsOfTls,
  reasonsOfUpstream,
  requiresClientCertificate,
  routeConfigName,
  routeConfiguration,
  servedSecretName,
  servedSecrets,
  upstreamSecretRef,
  virtualHost,
  wholeListenerReasons,
  type EnvoyMessage,
  type EnvoyServices,
  type Reasons,
  type TranslationContext,
} from '@edge-gateway/core/envoy';
import { unpooled } from '../protocol/wire.ts';
import type { ProxyState, StateEncoder } from '../resources/encode-state.ts';
import {
  assembledResource,
  resourceOf,
  typedResources,
  type EncodedResource,
  type ResourceSet,
  type TypedResources,
} from '../resources/resource-set.ts';
import { referenceKey } from '../resources/secret-reference.ts';
import { ENVOY_TYPE, ENVOY_TYPES } from '../resources/envoy-types.ts';
import { encodeMessage, encodeTyped, fieldOf } from './protobuf.ts';

/** A route or listener that Envoys do not serve, because no data plane can apply one of its options. */
export interface EnvoyProblem {
  readonly kind: 'VirtualService' | 'Gateway';
  readonly ref: ResourceRef;
  /** Name of the route; missing for a listener. */
  readonly route?: string;
  /** Paths of the options. */
  readonly options: Reasons;
}

/** Receives the problems of each state of a proxy; an empty list if there are none. */
export type OnProblems = (proxy: string, problems: readonly EnvoyProblem[]) => void;

/** A virtual host in the form in which it was encoded last. */
interface EncodedHost {
  readonly key: string;
  readonly settings: SnapshotSettings;
  readonly reasons: readonly Reasons[];
  /** True if a route is handed over, or not served. */
  readonly isShared: boolean;
  /** As the field of a route configuration. */
  readonly field: Uint8Array;
  readonly version: string;
}

interface EncodedUpstream {
  readonly key: string;
  readonly reasons: Reasons;
  /** Missing if Envoy does not express it. */
  readonly cluster?: EncodedResource;
  readonly endpoints?: EncodedResource | undefined;
}

/** The context in which the parts of one state are encoded. */
interface Pass extends TranslationContext {
  readonly services: EnvoyServices;
  /** Upstreams that Envoy does not express, with the reasons. */
  readonly unexpressed: ReadonlyMap<string, Reasons>;
  /** Text that differs if they do. */
  readonly unexpressedKey: string;
  readonly problems: EnvoyProblem[];
  add(type: string, resource: EncodedResource): void;
}

/**
 * Creates an encoder. Upstreams, endpoints and virtual hosts are encoded again only if they change. All virtual hosts of a listener are one
 * resource, because Envoy subscribes to them as one: it is assembled from their bytes.
 */
export function createEnvoyEncoder(services: EnvoyServices, onProblems: OnProblems = () => {}): StateEncoder {
  let before: ReadonlyMap<string, TypedResources> = new Map();
  let last: ResourceSet | undefined;
  const upstreams = new WeakMap<SnapshotUpstream, EncodedUpstream>();
  const hosts = new WeakMap<VirtualHost, Map<string, EncodedHost>>();
  const ownSettings = new WeakMap<object, { readonly settings: SnapshotSettings; readonly merged: SnapshotSettings }>();
  const secretParts = new WeakMap<SecretValue, Map<string, readonly EncodedResource[]>>();

  function encodeUpstream(
    upstream: SnapshotUpstream,
    context: TranslationContext & { readonly services: EnvoyServices },
  ): EncodedUpstream {
    const content = upstream.tls ? certificateOf(tlsOf(upstream), context.secrets) : undefined;
    // The form of TLS depends on what the Secret contains and on the type of its key, not on its values.
    const unloadable = reasonsOfKey(content);
    const key = content ? [...Object.keys(content.data), ...unloadable].join(' ') : '';
    const known = upstreams.get(upstream);
    if (known?.key === key) return known;
    const found = { key, ...encodeCluster(upstream, unloadable, context) };
    upstreams.set(upstream, found);
    return found;
  }

  function encodeCluster(
    upstream: SnapshotUpstream,
    unloadable: Reasons,
    context: TranslationContext & { readonly services: EnvoyServices },
  ) {
    const reasons = [...reasonsOfUpstream(upstream, context), ...unloadable];
    if (reasons.length > 0) return { reasons };
    try {
      const encoded = resourceOf(ENVOY_TYPE.cluster, upstream.name, encodeTyped(cluster(upstream, context)));
      const endpoints = hasNames(upstream) ? undefined : encodeEndpoints(upstream, encoded, context);
      return { reasons, cluster: encoded, endpoints };
    } catch (error) {
      return { reasons: [untranslated(error)] };
    }
  }

  /** Endpoints have a new version with their cluster: Envoy waits for them after each change of the cluster. */
  function encodeEndpoints(upstream: SnapshotUpstream, { version }: EncodedResource, context: TranslationContext) {
    const value = encodeMessage('envoy.config.endpoint.v3.ClusterLoadAssignment', loadAssignment(upstream, context));
    const own = resourceOf(ENVOY_TYPE.endpoints, upstream.name, value);
    return { ...own, version: resourceOf(ENVOY_TYPE.endpoints, version, Buffer.from(own.version)).version };
  }

  /** Returns the settings that apply to a listener; the same object for the same settings. */
  function settingsOf({ httpOptions }: Listener, settings: SnapshotSettings): SnapshotSettings {
    const { extauth, ratelimitServer } = httpOptions;
    if (!extauth && !ratelimitServer) return settings;
    const known = ownSettings.get(httpOptions);
    if (known?.settings === settings) return known.merged;
    const merged = { ...settings, ...(extauth && { extauth }), ...(ratelimitServer && { ratelimitServer }) };
    ownSettings.set(httpOptions, { settings, merged });
    return merged;
  }

  function encodeHost(host: VirtualHost, listener: Listener, parts: HostParts): EncodedHost {
    const { pass, filters, key } = parts;
    let known = hosts.get(host);
    if (!known) hosts.set(host, (known = new Map()));
    const found = known.get(listener.name);
    if (found?.key === key && found.settings === pass.settings) return found;
    const reasons = reasonsOfRoutes(host, {
      ...pass,
      reasonsOf: (upstream) => pass.unexpressed.get(upstream) ?? NO_REASONS,
    });
    const cluster = pass.services.nodeProxies === undefined ? undefined : nodeClusterName(listener);
    const routes = encodeRoutes(host, reasons, { ...pass, filters, nodeCluster: cluster });
    const field = fieldOf(VIRTUAL_HOSTS_FIELD, routes.bytes);
    const encoded: EncodedHost = {
      key,
      settings: pass.settings,
      reasons: routes.reasons,
      isShared: routes.reasons.some(({ length }) => length > 0),
      field,
      version: hash('sha256', field, 'base64url').slice(0, VERSION_LENGTH),
    };
    known.set(listener.name, encoded);
    return encoded;
  }

  const contextOf = (listener: Listener, pass: Pass): Pass => ({
    ...pass,
    settings: settingsOf(listener, pass.settings),
  });

  function hostPartsOf(listener: Listener, pass: Pass): HostParts {
    const names = httpFilters(listener, pass).map(({ name }) => name as string);
    return { pass, filters: new Set(names), key: `${names.join(' ')} ${pass.unexpressedKey}` };
  }

  /** Without Node proxies, a TLS configuration that Envoy does not express is left out: the others are served. */
  function servedTls(listener: Listener, { services, problems: found, ...context }: Pass): Listener {
    const { sslConfigurations } = listener;
    if (services.nodeProxies !== undefined || sslConfigurations.length < 2) return listener;
    const judged = sslConfigurations.map((each) => [each, reasonsOfTls(each, { services, ...context })] as const);
    const served = judged.flatMap(([each, reasons]) => (reasons.length === 0 ? [each] : []));
    if (served.length === judged.length || served.length === 0) return listener;
    found.push({ kind: 'Gateway', ref: listener.gateway, options: judged.flatMap(([, reasons]) => reasons) });
    return { ...listener, sslConfigurations: served };
  }

  function addListener(written: Listener, pass: Pass): void {
    const { services, secrets } = pass;
    const listener = servedTls(written, pass);
    const context = contextOf(listener, pass);
    const asksForCertificate = written.sslConfigurations.some(({ sslConfig }) =>
      requiresClientCertificate(sslConfig, context),
    );
    // Of what is written: hosts whose configuration is left out would be served over the connections of the others.
    const reasons = [...reasonsOfListener(listener, context), ...reasonsOfCertificates(written, asksForCertificate)];
    if (reasons.length > 0) return handOver(listener, reasons, pass);
    let encodedListener: EncodedResource;
    try {
      const message = encodeTyped(listenerMessage(listener, context));
      encodedListener = resourceOf(ENVOY_TYPE.listener, listener.name, message);
    } catch (error) {
      return handOver(listener, [untranslated(error)], pass);
    }
    const parts = hostPartsOf(listener, context);
    const encoded = listener.virtualHosts.map((host) => encodeHost(host, listener, parts));
    const isShared = encoded.some((host) => host.isShared);
    const whole = isShared ? wholeListenerReasons(listener, asksForCertificate) : NO_REASONS;
    if (whole.length > 0) return handOver(listener, whole, pass);
    if (isShared && services.nodeProxies !== undefined) {
      const fingerprints = listener.sslConfigurations.flatMap(({ sslConfig }) =>
        fingerprintsOf(certificateOf(sslConfig, secrets)),
      );
      // Without any, the certificate of the Node proxies would not be verified.
      if (listener.ssl && fingerprints.length === 0)
        return handOver(listener, ['sslConfig without a certificate'], pass);
      const node = nodeCluster(listener, services.nodeProxies, fingerprints);
      pass.add(ENVOY_TYPE.cluster, resourceOf(ENVOY_TYPE.cluster, nodeClusterName(listener), encodeTyped(node)));
    }
    if (isShared && services.nodeProxies === undefined) noteProblems(listener, encoded, pass);
    pass.add(ENVOY_TYPE.listener, encodedListener);
    const name = routeConfigName(listener);
    const head = encodeTyped(routeConfiguration(listener, undefined, context));
    const routes = assembledResource(ENVOY_TYPE.routes, name, {
      versions: [head.toString('base64url'), ...encoded.map(({ version }) => version)],
      assemble: () => Buffer.concat([head, ...encoded.map(({ field }) => field)]),
    });
    pass.add(ENVOY_TYPE.routes, routes);
  }

  function handOver(listener: Listener, reasons: Reasons, { services, problems: found, add }: Pass): void {
    if (services.nodeProxies === undefined)
      return void found.push({ kind: 'Gateway', ref: listener.gateway, options: reasons });
    const node = nodeTcpCluster(listener, services.nodeProxies);
    add(ENVOY_TYPE.cluster, resourceOf(ENVOY_TYPE.cluster, String(node['name']), encodeTyped(node)));
    const message = handedOverListener(listener);
    add(ENVOY_TYPE.listener, resourceOf(ENVOY_TYPE.listener, listener.name, encodeTyped(message)));
  }

  function addSecret(name: string, content: SecretValue | undefined, { add }: Pass): void {
    // One whose key Envoy does not support is not used.
    if (!content || reasonsOfKey(content).length > 0) return;
    let known = secretParts.get(content);
    if (!known) secretParts.set(content, (known = new Map()));
    let found = known.get(name);
    if (!found) {
      found = servedSecrets(name, content).map((secret) =>
        resourceOf(ENVOY_TYPE.secret, String(secret['name']), encodeTyped(secret)),
      );
      known.set(name, found);
    }
    for (const resource of found) add(ENVOY_TYPE.secret, resource);
  }

  /** Fills the tables of upstreams and virtual hosts, which make up nearly all of a state. */
  function* prepare({ snapshot, secrets: values }: ProxyState): Generator<void, void> {
    const { settings } = snapshot;
    const start = { services, settings, secrets: secretsIn(values), problems: [], add: () => undefined };
    const unexpressed = new Map<string, Reasons>();
    for (const upstream of snapshot.upstreams) {
      const { cluster: found, reasons } = encodeUpstream(upstream, start);
      if (!found) unexpressed.set(upstream.name, reasons);
      yield;
    }
    const pass: Pass = { ...start, unexpressed, unexpressedKey: JSON.stringify([...unexpressed]) };
    for (const listener of snapshot.listeners) {
      const context = contextOf(listener, pass);
      if (reasonsOfListener(listener, context).length > 0) continue;
      const parts = hostPartsOf(listener, context);
      for (const host of listener.virtualHosts) {
        encodeHost(host, listener, parts);
        yield;
      }
    }
  }

  function encode({ snapshot, secrets: values }: ProxyState): ResourceSet {
    const { settings, listeners, version } = snapshot;
    const secrets = secretsIn(values);
    const found = new Map<string, Map<string, EncodedResource>>(ENVOY_TYPES.map((type) => [type, new Map()]));
    const add = (type: string, resource: EncodedResource): void => {
      const same = before.get(type)?.byName.get(resource.name);
      found.get(type)!.set(resource.name, same?.version === resource.version ? same : resource);
    };
    const pending: EnvoyProblem[] = [];
    const start = { services, settings, secrets, problems: pending, add };
    const unexpressed = new Map<string, Reasons>();
    for (const upstream of snapshot.upstreams) {
      const encoded = encodeUpstream(upstream, start);
      if (!encoded.cluster) {
        unexpressed.set(upstream.name, encoded.reasons);
        continue;
      }
      add(ENVOY_TYPE.cluster, encoded.cluster);
      if (encoded.endpoints) add(ENVOY_TYPE.endpoints, encoded.endpoints);
    }
    const unexpressedKey = JSON.stringify([...unexpressed]);
    const pass: Pass = { ...start, unexpressed, unexpressedKey };
    const called = [
      [AUTH_CLUSTER, services.extauth],
      [LIMIT_CLUSTER, services.rateLimit],
    ] as const;
    for (const [name, at] of called)
      if (at)
        add(ENVOY_TYPE.cluster, resourceOf(ENVOY_TYPE.cluster, name, encodeTyped(grpcCluster(name, at, services.tls))));
    for (const listener of listeners) {
      try {
        addListener(listener, pass);
      } catch (error) {
        // The others are served.
        pending.push({ kind: 'Gateway', ref: listener.gateway, options: [untranslated(error)] });
      }
    }
    const configs = [
      ...snapshot.upstreams.flatMap((upstream) => (upstream.tls ? [tlsOf(upstream)] : [])),
      ...listeners.flatMap(({ sslConfigurations }) => sslConfigurations.map(({ sslConfig }) => sslConfig)),
    ];
    for (const config of configs) {
      const name = servedSecretName(config);
      if (name !== undefined) addSecret(name, certificateOf(config, secrets), pass);
    }
    const types = new Map<string, TypedResources>();
    for (const [type, byName] of found) types.set(type, typedResources(byName, before.get(type)));
    onProblems(snapshot.proxy, pending);
    if (last && [...types].every(([type, resources]) => before.get(type) === resources)) return last;
    before = types;
    last = Object.freeze({ version, types });
    return last;
  }

  return { encode, prepare };
}

interface HostParts {
  readonly pass: Pass;
  readonly filters: ReadonlySet<string>;
  /** Text that differs if virtual hosts must be encoded again. */
  readonly key: string;
}

/** Number of the field `virtual_hosts` in RouteConfiguration. */
const VIRTUAL_HOSTS_FIELD = 2;
/** Of a version of a virtual host: 120 bits. */
const VERSION_LENGTH = 20;

/** A message that Envoy would reject. */
const untranslated = (error: unknown): string => `not translated: ${(error as Error).message}`;

type HostContext = Parameters<typeof virtualHost>[1];

/** A virtual host that cannot be encoded is handed over completely, so that the others are served. */
function encodeRoutes(host: VirtualHost, reasons: readonly Reasons[], context: HostContext) {
  const encoded = (message: EnvoyMessage): Uint8Array =>
    unpooled(encodeMessage('envoy.config.route.v3.VirtualHost', message));
  try {
    return { reasons, bytes: encoded(virtualHost(host, { ...context, reasons })) };
  } catch (error) {
    const reason = [untranslated(error)];
    return { reasons: host.routes.map(() => reason), bytes: encoded(handedOverHost(host, context, reason)) };
  }
}

function noteProblems({ virtualHosts }: Listener, encoded: readonly EncodedHost[], { problems }: Pass): void {
  for (const [i, host] of virtualHosts.entries()) {
    for (const [k, options] of encoded[i]!.reasons.entries()) {
      const route = host.routes[k]!;
      if (options.length > 0)
        problems.push({ kind: 'VirtualService', ref: host.virtualService, route: route.name, options });
    }
  }
}

/** Returns the TLS of an upstream with the namespace of its Secret. */
function tlsOf(upstream: SnapshotUpstream): NonNullable<SnapshotUpstream['spec']['sslConfig']> {
  return { ...upstream.spec.sslConfig, secretRef: upstreamSecretRef(upstream) };
}

function secretsIn(values: ReadonlyMap<string, SecretValue>): Secrets {
  return {
    get: ({ namespace, name }) => values.get(`${namespace}/${name}`),
    files: (files) => values.get(referenceKey({ files })),
    sds: (sds) => values.get(referenceKey({ sds })),
  };
}

/** Returns the SHA-256 fingerprint of the certificate itself, which comes first. */
function fingerprintsOf(content: SecretValue | undefined): string[] {
  const [first] = certificateBlocks(secretText(content, 'tls.crt') ?? '');
  try {
    return first === undefined ? [] : [new X509Certificate(first).fingerprint256.replaceAll(':', '').toLowerCase()];
  } catch {
    return [];
  }
}
