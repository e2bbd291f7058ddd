import { isIPv6 } from 'node:net';
import {
  status,
  type ServerDuplexStream,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import {
  DEFAULT_SNAPSHOT_SETTINGS,
  gatewayNamespace,
  isLoopbackUrl,
  type Logger,
  type Loggers,
  type Metrics,
  type ProxyRejection,
  type ProxyStatus,
  type ServerTls,
} from '@edge-gateway/core';
import { listenGrpcServer, type GrpcServer } from '@edge-gateway/core/grpc';
import { ADS, AggregatedDiscovery, type DeltaRequest, type WorldRequest } from '../protocol/discovery.ts';
import type { ProxyState } from '../resources/encode-state.ts';
import { typeName } from '../resources/resource-type.ts';
import { serializeDeltaResponse, serializeWorldResponse, type PreparedResponse } from './chunk.ts';
import { LoadReporting } from '../protocol/load-stats.ts';
import type { ClientName } from './client-names.ts';
import { createLoadReports, type LoadReports } from './load-reports.ts';
import { createNodeAuthorization, ForbiddenProxy, type AuthorizeNode } from './node-authorization.ts';
import { checkSameNode, identityOf, type NodeIdentity } from './node-identity.ts';
import { onEnd } from './call-end.ts';
import { NodeStream, RejectedSubscription } from './node-stream.ts';
import { NODE_TRANSLATION, ProxyResources, type Translation } from './translation.ts';

/** Maximum request size: the versions of 100,000 resources. */
const MAX_REQUEST_BYTES = 16 * 1024 * 1024;
const KEEPALIVE_MS = 30_000;
const DEFAULT_MAX_NODES = 10_000;
const DEFAULT_REPORT_MS = 5000;

/** The rejections of all proxies with the same name, with the rejecting node. */
export interface NodeRejection {
  readonly node: string;
  readonly proxy: string;
  readonly rejection: ProxyRejection;
}

/** Options of {@link createDiscoveryServer}. */
export interface DiscoveryServerOptions {
  readonly log: Loggers;
  readonly metrics: Metrics;
  /** Milliseconds since the epoch. Default: the system clock. */
  readonly now?: () => number;
  /** Default: the resources of Node proxies. */
  readonly translations?: readonly Translation[];
  /** Called after proxies rejected or accepted something, or were disconnected. */
  readonly onRejections?: () => void;
  /** Maximum number of streams; more are rejected. Default: 10,000. */
  readonly maxNodes?: number;
  /** How often proxies report their traffic, in milliseconds. Default: 5,000. */
  readonly reportMs?: number;
}

/** Where a discovery server listens. */
export interface DiscoveryAddress {
  readonly address: string;
  /** 0 is any free port. */
  readonly port: number;
  /** Default: plain text. Secrets are sent to other machines only with `clientCa`, see `anonymousSecrets`. */
  readonly tls?: ServerTls | undefined;
  /**
   * Names of which each client certificate must have one for its proxy; they require `tls.clientCa`. Default: certificates with a name
   * `spiffe://<any>/ns/<namespace>/proxy/<name>` allow the proxies that they name, and all others any proxy.
   */
  readonly clientNames?: readonly ClientName[] | undefined;
  /** True sends secrets over TLS also to other machines whose clients have no certificate, when there is no `tls.clientCa`. Default false. */
  readonly anonymousSecrets?: boolean | undefined;
}

/** Sends states to proxies over aggregated discovery (ADS). */
export interface DiscoveryServer {
  /**
   * Replaces the states, by the name of the proxy. Proxies without one get an empty state. Nothing is sent before the first call. A partial state is sent
   * only to proxies without any: the others keep what they have until there is a complete one.
   */
  update(states: ReadonlyMap<string, ProxyState>, options?: { readonly isPartial?: boolean }): void;
  /** The connected proxies, sorted by name and node. */
  proxies(): readonly ProxyStatus[];
  rejections(): readonly NodeRejection[];
  /** Rejects with the error of the socket if it cannot listen. */
  listen(at: DiscoveryAddress): Promise<GrpcServer>;
}

type Call = ServerDuplexStream<DeltaRequest | WorldRequest, PreparedResponse>;

/** How a stream is served. */
interface Served {
  readonly isWorld: boolean;
  /** True if secrets may be sent to other machines. */
  readonly sendsSecrets: boolean;
  readonly authorize: AuthorizeNode;
}

/** A stream whose node is known. */
interface Opened extends Pick<Served, 'isWorld' | 'sendsSecrets'> {
  readonly identity: NodeIdentity;
}

/**
 * Creates a discovery server without states.
 *
 * @example
 * const server = createDiscoveryServer({ log, metrics });
 * const { port } = await server.listen({ address: '127.0.0.1', port: 9977 });
 * server.update(new Map([['gateway-proxy', { snapshot, unserved: [], secrets: new Map() }]]));
 */
export function createDiscoveryServer(options: DiscoveryServerOptions): DiscoveryServer {
  const { metrics, now = Date.now, translations = [NODE_TRANSLATION], maxNodes = DEFAULT_MAX_NODES } = options;
  const log = options.log.get('upstream');
  const { reportMs: intervalMs = DEFAULT_REPORT_MS } = options;
  const reports = createLoadReports({ now, intervalMs, maxNodes });
  const streams = new Set<NodeStream>();
  const byProxy = new Map<string, { readonly resources: ProxyResources; streams: number }>();
  let states: ReadonlyMap<string, ProxyState> | undefined;
  let isPartial = false;
  const counted = createServerStats(metrics, streams);

  function resourcesOf(proxy: string): ProxyResources {
    let known = byProxy.get(proxy);
    if (!known) {
      const resources = new ProxyResources(() => {
        for (const stream of streams) if (stream.identity.proxy === proxy) stream.send();
      });
      byProxy.set(proxy, (known = { resources, streams: 0 }));
      if (states) known.resources.update(states.get(proxy) ?? emptyState(proxy), isPartial);
    }
    known.streams++;
    return known.resources;
  }

  /** Forgets proxies that have no Gateway once no node uses their name: nodes choose it freely. */
  function release(proxy: string): void {
    const known = byProxy.get(proxy)!;
    if (--known.streams === 0 && !states?.has(proxy)) byProxy.delete(proxy);
  }

  function open(call: Call, { identity, isWorld, sendsSecrets }: Opened): NodeStream {
    const { id: node, proxy, namespace } = identity;
    const own = gatewayNamespace();
    // It is served: the bootstrap configuration of an Envoy may contain any namespace, which has no effect there.
    if (namespace !== own)
      log.warn({ node, proxy, namespace, expected: own }, 'proxy has another namespace than its control plane');
    if (states && !states.has(proxy)) {
      log.warn({ node, proxy, proxies: [...states.keys()] }, 'no Gateway for this proxy');
    }
    const stream = new NodeStream({
      identity,
      address: call.getPeer(),
      translations,
      resources: resourcesOf(proxy),
      now,
      isPrivate: sendsSecrets || isLoopbackPeer(call),
      write: writerOf(call),
      onAnswer(rejected) {
        counted[rejected ? 'rejected' : 'accepted'].value++;
        if (rejected) logRejections(log, stream);
        options.onRejections?.();
        // Changes that were waiting for the acknowledgement.
        stream.send();
      },
    });
    if (isWorld) stream.useWorld();
    streams.add(stream);
    log.info({ node, proxy, address: stream.address }, 'proxy connected');
    return stream;
  }

  function serve(call: Call, { isWorld, sendsSecrets, authorize }: Served): void {
    let stream: NodeStream | undefined;
    const close = (): void => {
      if (!stream || !streams.delete(stream)) return;
      stream.close();
      release(stream.identity.proxy);
      const { id: node, proxy } = stream.identity;
      log.info({ node, proxy }, 'proxy disconnected');
      if (stream.rejected.size > 0) options.onRejections?.();
    };
    const fail = (code: number, details: string): void => {
      close();
      log.warn({ address: call.getPeer(), reason: details }, 'discovery stream rejected');
      call.emit('error', { code, details });
    };
    call.on('data', (request: DeltaRequest | WorldRequest) => {
      try {
        if (!stream) {
          if (streams.size >= maxNodes) return fail(status.RESOURCE_EXHAUSTED, `more than ${maxNodes} proxies`);
          const identity = identityOf(request.node);
          authorize(call, identity);
          stream = open(call, { identity, isWorld, sendsSecrets });
        } else checkSameNode(stream.identity, request.node);
        if (isWorld) stream.receiveWorld(request as WorldRequest);
        else stream.receiveDelta(request as DeltaRequest);
      } catch (error) {
        const isForbidden = error instanceof RejectedSubscription || error instanceof ForbiddenProxy;
        fail(isForbidden ? status.PERMISSION_DENIED : status.INVALID_ARGUMENT, (error as Error).message);
      }
      return undefined;
    });
    onEnd(call, close);
  }

  return {
    update(next, update = {}) {
      states = next;
      isPartial = update.isPartial ?? false;
      for (const [proxy, { resources }] of byProxy) resources.update(next.get(proxy) ?? emptyState(proxy), isPartial);
      for (const stream of streams) stream.send();
    },
    proxies: () =>
      [...streams]
        .map((stream) => statusOf(stream, now(), reports))
        .sort((a, b) => (`${a.proxy} ${a.node}` < `${b.proxy} ${b.node}` ? -1 : 1)),
    rejections: () =>
      [...streams].flatMap(({ identity: { id: node, proxy }, rejected }) =>
        Array.from(rejected.values(), (rejection) => ({ node, proxy, rejection })),
      ),
    async listen(at) {
      const authorize = createNodeAuthorization(at);
      const sendsSecrets = at.tls !== undefined && (at.tls.clientCa !== undefined || at.anonymousSecrets === true);
      const served = { sendsSecrets, authorize };
      const implementation = {
        DeltaAggregatedResources: (call: Call) => serve(call, { ...served, isWorld: false }),
        StreamAggregatedResources: (call: Call) => serve(call, { ...served, isWorld: true }),
        StreamLoadStats: (call: Parameters<LoadReports['serve']>[0]) => reports.serve(call, authorize),
      } as UntypedServiceImplementation;
      return listenGrpcServer(
        { name: ADS, definition: DEFINITION, implementation },
        { ...at, maxBytes: MAX_REQUEST_BYTES, keepaliveMs: KEEPALIVE_MS },
      );
    },
  };
}

/** Discovery, with responses that are serialized once for all nodes, and load reporting on the same port. */
const DEFINITION = {
  DeltaAggregatedResources: {
    ...AggregatedDiscovery['DeltaAggregatedResources']!,
    responseSerialize: serializeDeltaResponse,
  },
  StreamAggregatedResources: {
    ...AggregatedDiscovery['StreamAggregatedResources']!,
    responseSerialize: serializeWorldResponse,
  },
  ...LoadReporting,
} as ServiceDefinition;

/**
 * Returns a function that writes to a call. It resolves when the connection has accepted the response (flow control of the node), or when
 * the call ends.
 */
function writerOf(call: Call): (response: PreparedResponse) => Promise<void> {
  let release: (() => void) | undefined;
  call.once('cancelled', () => release?.());
  return (response) =>
    new Promise((resolve) => {
      release = resolve;
      call.write(response, () => resolve());
    });
}

function isLoopbackPeer(call: Call): boolean {
  const peer = call.getPeer();
  const [, host = ''] = /^(.+):\d+$/.exec(peer) ?? [];
  const address = host.replace(/^\[?(?:::ffff:)?([^\]]*)\]?$/i, '$1');
  return isLoopbackUrl(`http://${isIPv6(address) ? `[${address}]` : address}`);
}

function emptyState(proxy: string): ProxyState {
  const snapshot = { proxy, version: '', listeners: [], upstreams: [], settings: DEFAULT_SNAPSHOT_SETTINGS };
  return { snapshot, unserved: [], secrets: new Map() };
}

function statusOf(stream: NodeStream, now: number, reports: LoadReports): ProxyStatus {
  const traffic = reports.of(stream.identity);
  const { identity, address, answered, answeredAt, connectedAt, rejected, isCurrent } = stream;
  const [nack] = rejected.values();
  return {
    node: identity.id,
    proxy: identity.proxy,
    address,
    version: answered?.version ?? '',
    current: isCurrent,
    connectedSince: new Date(connectedAt).toISOString(),
    ...(answeredAt !== undefined && { lastAck: new Date(answeredAt).toISOString() }),
    ...(nack && { nack: { ...nack, type: typeName(nack.type) } }),
    ...(traffic && { traffic }),
    age: Math.max(0, Math.round((now - (answeredAt ?? connectedAt)) / 1000)),
  };
}

function logRejections(log: Logger, { identity, rejected }: NodeStream): void {
  const { id: node, proxy } = identity;
  const [first] = rejected.values();
  if (!first) return;
  const { type, resource, field, message: reason } = first;
  log.warn(
    { node, proxy, type: typeName(type), resource, field, reason, rejected: rejected.size },
    'update rejected by proxy',
  );
}

function createServerStats(metrics: Metrics, streams: ReadonlySet<NodeStream>) {
  const stat = (name: string) => ({ path: `xds.${name}`, metric: `api_gw_vendor_io_xds_${name}` });
  metrics.computed(stat('nodes'), () => streams.size);
  metrics.computed(stat('pending_responses'), () => [...streams].reduce((sum, { pending }) => sum + pending, 0));
  metrics.computed(stat('stale_nodes'), () => [...streams].filter(({ isCurrent }) => !isCurrent).length);
  return { accepted: metrics.counter(stat('accepted')), rejected: metrics.counter(stat('rejected')) };
}
