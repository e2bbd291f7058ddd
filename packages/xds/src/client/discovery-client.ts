import { isDeepStrictEqual } from 'node:util';
import { Client, credentials, type ChannelCredentials, type ClientDuplexStream } from '@grpc/grpc-js';
import {
  backoffMs,
  runInSlices,
  type Loggers,
  type Metrics,
  type ProxyRejection,
  startTimer,
} from '@edge-gateway/core';
import { channelOptions, toStruct } from '@edge-gateway/core/grpc';
import { AggregatedDiscovery, type DeltaRequest, type DeltaResponse, type NodeMessage } from '../protocol/discovery.ts';
import { errorDetailOf } from '../protocol/rejection.ts';
import { applyReceived, type Applied, type ApplyState } from '../resources/apply-received.ts';
import type { StateDecoder } from '../resources/decode-state.ts';
import { RESOURCE_TYPES, TYPE, typeName } from '../resources/resource-type.ts';
import { formatAddress, type ServerAddress } from './server-address.ts';
import { reportLoad, type ReadTraffic } from './load-reporter.ts';
import { createUpdateStats } from './update-stats.ts';

/** Delays before all servers are tried again. The longest one bounds how long a proxy misses a control plane that is back. */
const BACKOFF = { firstMs: 500, maxMs: 5000 };
/** Maximum delay before another server is tried, in milliseconds: spreads the reconnects of many nodes. */
const NEXT_SERVER_MS = 200;
/** Maximum time until the first response of a server, in milliseconds. */
const FIRST_RESPONSE_MS = 10_000;
/** Keepalive: a server must respond to a ping after this time without traffic. Otherwise a lost connection would not be detected. */
const KEEPALIVE_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;
/** Maximum response size. Servers of this package send at most 1 MiB plus one resource. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Certificates of a client, as PEM. */
export interface ClientTls {
  /** CA certificates for the server. Default: those of Node.js. */
  readonly ca?: string | undefined;
  /** Certificate and private key of this client. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** Expected name in the server certificate. Default: the host. */
  readonly serverName?: string | undefined;
}

/** A part of the served state that is not available. */
export interface UnavailablePart {
  readonly name: string;
  readonly reason: string;
}

/** Options of {@link createDiscoveryClient}. */
export interface DiscoveryClientOptions {
  /** The servers; one is used at a time, with failover to the others. */
  readonly servers: readonly ServerAddress[];
  readonly node: {
    /** Unique among the nodes. */
    readonly id: string;
    /** Name of the proxy. */
    readonly proxy: string;
    readonly namespace: string;
  };
  /** Returns the certificates for the next connection. Default: plain text. */
  readonly tls?: () => ClientTls | undefined;
  /** Contains the resources of the currently served state, if any. */
  readonly decoder: StateDecoder;
  /** Returns true if the state of the decoder is already being served. Default: true if there is one. */
  readonly isServed?: () => boolean;
  readonly apply: ApplyState;
  /** Returns the parts of the served state that are not available, such as listeners that are not open; each is reported as a rejection of the state. */
  readonly unavailable?: () => readonly UnavailablePart[];
  /** Called after a state was accepted, perhaps with rejected resources. */
  readonly onAccepted?: (rejections: readonly ProxyRejection[]) => void;
  /** Called when a server could not be reached or was lost, with its address. */
  readonly onFailure?: (server: string, reason: string) => void;
  /** Returns the traffic since it was called last, which is reported to the control plane. Default: nothing is reported. */
  readonly traffic?: ReadTraffic;
  readonly log: Loggers;
  readonly metrics: Metrics;
  /** Returns numbers from 0 up to 1. Default: `Math.random`. */
  readonly random?: () => number;
  /** Default: 10,000. */
  readonly keepaliveMs?: number;
}

/** A connection to a control plane. */
export interface DiscoveryClient {
  /** Address of the server; `undefined` until a connection has delivered a response. */
  readonly connectedTo: string | undefined;
  /** The rejected resources of the served state. */
  readonly rejections: readonly ProxyRejection[];
  /** Has the server send the state again, so that what `unavailable` returns now is reported. */
  refresh(): void;
  close(): void;
}

type Stream = ClientDuplexStream<DeltaRequest, DeltaResponse>;

const { path, requestSerialize, responseDeserialize } = AggregatedDiscovery['DeltaAggregatedResources']!;

/** A response that was not acknowledged or rejected yet. */
interface PendingResponse {
  readonly type: string;
  readonly nonce: string;
  readonly names: ReadonlySet<string>;
}

/** Connects to a control plane and applies its states until it is closed. Reconnects after failures with exponential backoff. */
export function createDiscoveryClient(options: DiscoveryClientOptions): DiscoveryClient {
  const { servers, decoder, metrics, random = Math.random, keepaliveMs = KEEPALIVE_MS } = options;
  const log = options.log.get('upstream');
  const stats = createUpdateStats(metrics);
  const connected = metrics.gauge({
    path: 'control_plane.connected_state',
    metric: 'envoy_control_plane_connected_state',
  });
  let rejections: readonly ProxyRejection[] = [];
  let client: Client | undefined;
  let stream: Stream | undefined;
  let connectedTo: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let turn = 0;
  /** Consecutive attempts without a response. */
  let failures = 0;
  /** The reason of the last failure, by server; a repeated one is not logged. */
  const failureReasons = new Map<string, string>();

  function connect(): void {
    const server = servers[turn % servers.length]!;
    const address = formatAddress(server);
    const own = new Client(address, channelCredentials(options.tls?.()), optionsOf(options.tls?.(), keepaliveMs));
    const opened: Stream = own.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    [client, stream] = [own, opened];
    let pending: PendingResponse[] = [];
    /** True while received resources are not applied yet. */
    let isChanged = false;
    let isOver = false;
    let reporter: ReturnType<typeof reportLoad> | undefined;

    const end = (reason: string): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      opened.cancel();
      reporter?.close();
      own.close();
      decoder.discard();
      const wasConnected = connectedTo === address;
      connectedTo = undefined;
      connected.value = 0;
      if (isClosed) return;
      for (const { failure } of stats.values()) failure.value++;
      if (wasConnected) log.warn({ server: address, reason }, 'connection to control plane lost');
      else if (failureReasons.get(address) !== reason)
        log.warn({ server: address, reason }, 'failed to connect to control plane');
      if (!wasConnected) failureReasons.set(address, reason);
      options.onFailure?.(address, reason);
      failures = wasConnected ? 0 : failures + 1;
      turn++;
      timer = startTimer(connect, delayMs());
    };

    /** Acknowledges or rejects all received responses. */
    const answer = (found: readonly ProxyRejection[], to = pending): void => {
      if (to === pending) pending = [];
      if (isOver) return;
      const all = [...found, ...unavailable(to)];
      for (const each of to) {
        const { type, nonce } = each;
        const own = all.filter((rejection) => rejection.type === type && responseFor(rejection, to) === each);
        stats.get(type)![own.length > 0 ? 'rejected' : 'success'].value++;
        opened.write({
          type_url: type,
          response_nonce: nonce,
          ...(own.length > 0 && { error_detail: errorDetailOf(own) }),
        });
      }
    };

    const unavailable = (to: readonly PendingResponse[]): readonly ProxyRejection[] => {
      if (!decoder.isComplete || !to.some(({ type }) => type === TYPE.snapshot)) return [];
      const parts = options.unavailable?.() ?? [];
      return parts.map(({ name, reason }) => ({ type: TYPE.snapshot, resource: name, field: '', message: reason }));
    };

    /** Applies what was received, in slices. Further responses wait: they would change the resources that are being applied. */
    const applyAll = async (): Promise<void> => {
      let applied: Applied | undefined;
      opened.pause();
      try {
        applied = await runInSlices(applyReceived(decoder, options.apply), () => isOver || isClosed);
      } catch (error) {
        rejectUpdate(error as Error, pending);
        return end('update failed');
      } finally {
        opened.resume();
      }
      if (!applied || isOver) return undefined;
      isChanged = false;
      const to = pending;
      pending = [];
      if (!applied.later) return settle(applied.failed, to);
      applied.later
        .then((found) => settle([...applied.failed, ...found], to))
        .catch((error: Error) => rejectUpdate(error, to));
      return undefined;
    };

    const rejectUpdate = ({ message }: Error, to: PendingResponse[]): void => {
      log.error({ reason: message }, 'failed to apply update, keeping previous state');
      answer([{ type: TYPE.snapshot, resource: options.node.proxy, field: '', message }], to);
    };

    const logRejections = (found: readonly ProxyRejection[]): void => {
      for (const each of found) {
        if (rejections.some((known) => isDeepStrictEqual(known, each))) continue;
        const { type, resource, field, message: reason } = each;
        log.error({ type: typeName(type), resource, field, reason }, 'resource rejected');
      }
    };

    const settle = (found: readonly ProxyRejection[], to: PendingResponse[]): void => {
      logRejections(found);
      rejections = found;
      answer(found, to);
      if (!isOver) options.onAccepted?.(found);
    };

    const receive = (response: DeltaResponse): void => {
      clearTimeout(timer);
      const { type_url: type, nonce, resources, removed_resources: removed } = response;
      if (!stats.has(type)) return undefined;
      if (connectedTo !== address) {
        connectedTo = address;
        connected.value = 1;
        failures = 0;
        failureReasons.clear();
        log.info({ server: address }, 'connected to control plane');
        if (options.traffic) reporter = reportLoad(own, nodeMessage(options.node), options.traffic);
      }
      stats.get(type)!.attempt.value++;
      const accepted = type === TYPE.snapshot ? decoder.versions(type) : {};
      // After `refresh`, the state has not changed.
      const isRepeated = resources.every(({ name, version }) => accepted[name] === version);
      for (const { name, version, resource } of resources)
        decoder.receive({ type, name, version, value: resource.value });
      for (const name of removed) decoder.remove(type, name);
      pending.push({ type, nonce, names: new Set([...resources.map(({ name }) => name), ...removed]) });
      if ((resources.length > 0 && !isRepeated) || removed.length > 0) isChanged = true;
      if (!decoder.isComplete) {
        if (type !== TYPE.snapshot) return undefined;
        // The update is incomplete: the server sends the rest after this acknowledgement. Without a usable list of its resources, it stays so.
        const unusable = decoder.unusable(type);
        logRejections(unusable);
        answer(unusable);
        return undefined;
      }
      if (isChanged || options.isServed?.() === false) return void applyAll().catch(rejectResponse);
      answer(rejections);
      options.onAccepted?.(rejections);
      return undefined;
    };

    const rejectResponse = (error: unknown): void => {
      log.error({ reason: (error as Error).message }, 'response rejected');
      end('response rejected');
    };

    opened.on('data', (response: DeltaResponse) => {
      if (isOver) return;
      try {
        receive(response);
      } catch (error) {
        rejectResponse(error);
      }
    });
    // The status follows.
    opened.on('error', () => {});
    opened.on('status', ({ details }: { readonly details: string }) => end(reasonOf(details)));
    timer = setTimeout(() => end(`no response within ${FIRST_RESPONSE_MS / 1000} s`), FIRST_RESPONSE_MS);
    for (const [i, type] of RESOURCE_TYPES.entries()) {
      opened.write({
        type_url: type,
        initial_resource_versions: decoder.versions(type),
        ...(i === 0 && { node: nodeMessage(options.node) }),
      });
    }
  }

  function delayMs(): number {
    if (servers.length > 1 && failures < servers.length) return NEXT_SERVER_MS * random();
    return backoffMs(Math.floor(failures / servers.length), BACKOFF, random);
  }

  connect();
  return {
    get connectedTo() {
      return connectedTo;
    },
    get rejections() {
      return rejections;
    },
    refresh() {
      if (connectedTo === undefined) return;
      stream?.write({ type_url: TYPE.snapshot, resource_names_subscribe: [options.node.proxy] });
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      stream?.cancel();
      client?.close();
      connected.value = 0;
    },
  };
}

/** Returns the response to reject for a resource: the one that contains it, or else the last one of its type. */
function responseFor({ type, resource }: ProxyRejection, to: readonly PendingResponse[]): PendingResponse | undefined {
  const ofType = to.filter((each) => each.type === type);
  return ofType.findLast(({ names }) => names.has(resource)) ?? ofType.at(-1);
}

function nodeMessage({ id, proxy, namespace }: DiscoveryClientOptions['node']): NodeMessage {
  return {
    id,
    cluster: proxy,
    metadata: toStruct({ role: `${namespace}~${proxy}` }),
    user_agent_name: 'edge-gateway',
  };
}

function channelCredentials(tls: ClientTls | undefined): ChannelCredentials {
  if (!tls) return credentials.createInsecure();
  const bytes = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));
  return credentials.createSsl(bytes(tls.ca), bytes(tls.key), bytes(tls.certificate));
}

function optionsOf(tls: ClientTls | undefined, keepaliveMs: number) {
  const keepaliveTimeoutMs = Math.min(KEEPALIVE_TIMEOUT_MS, keepaliveMs);
  return {
    // A reconnect creates a new channel with the current certificates.
    ...channelOptions({ maxBytes: MAX_RESPONSE_BYTES, keepaliveMs, keepaliveTimeoutMs }),
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.service_config_disable_resolution': 1,
    ...(tls?.serverName !== undefined && { 'grpc.ssl_target_name_override': tls.serverName }),
  };
}

/** Returns the details of a failed stream, without the mostly empty note on name resolution that gRPC adds. */
function reasonOf(details: string): string {
  return (details || 'the stream ended').replace(/\.? Resolution note:\s*$/, '').slice(0, 300);
}
