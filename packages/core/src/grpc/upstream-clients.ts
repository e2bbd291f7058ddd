import type { Client } from '@grpc/grpc-js';
import type { Endpoint, Secrets, SnapshotUpstream } from '../contract/snapshot.ts';
import { DEFAULTS } from '../schema/defaults.ts';
import { parseDuration } from '../syntax/duration.ts';
import { createRoundRobin } from '../upstream/round-robin.ts';
import { channelOptions, createGrpcClient, type GrpcChannelSettings, type GrpcClient } from './client.ts';
import { grpcSecurity, type GrpcSecurity } from './credentials.ts';
import { grpcLibrary } from './library.ts';

const REREAD_MS = 1000;
/** Maximum delay before a server that recovered is noticed, in milliseconds. */
const MAX_RECONNECT_MS = 1000;
const FIRST_RECONNECT_MS = 100;
/** Default timeout for connecting, including TLS, in milliseconds. */
const DEFAULT_CONNECT_MS = parseDuration(DEFAULTS.connectTimeout);

interface Prepared {
  readonly upstream: SnapshotUpstream;
  readonly security: GrpcSecurity;
  readonly connectMs: number;
  next(): Endpoint | undefined;
  readonly readAt: number;
}

/** Options of {@link createGrpcClients}. */
export interface GrpcClientOptions {
  readonly secrets: Secrets;
  /** Maximum size of a received message. */
  readonly maxBytes: number;
  /** `:authority` of the calls. Default: the address. */
  readonly authority?: string;
  /** Picks the endpoint of each call. Default: weighted round robin over the declared endpoints. */
  readonly pick?: () => Endpoint | undefined;
  /**
   * Idle time of a connection with calls after which the server must respond to a ping, in milliseconds. `connectionKeepalive` of the upstream
   * replaces it. Default 330,000.
   */
  readonly keepaliveMs?: number;
  /** Creates the error of a missing upstream or endpoint. Default: an `Error`. */
  readonly failure?: (reason: string) => Error;
}

/**
 * Creates gRPC clients for the endpoints of one upstream, by weighted round robin, which follow changes of it and of its
 * certificates. `find` returns the upstream now. Methods throw an `Error` if the upstream or its certificates are missing or invalid.
 *
 * @example
 * const clients = createGrpcClients(() => findUpstream(ref), { secrets, maxBytes: 65_536 });
 * const { client, connectMs } = clients.client();
 */
export function createGrpcClients(
  find: () => SnapshotUpstream | undefined,
  { secrets, maxBytes, authority, pick, keepaliveMs, failure = (reason) => new Error(reason) }: GrpcClientOptions,
) {
  let prepared: Prepared | undefined;
  const clients = new Map<string, GrpcClient>();

  /** Calls in progress finish before their connections close. */
  function close(): void {
    for (const client of clients.values()) client.close();
    clients.clear();
  }

  function securityOf(upstream: SnapshotUpstream, known: GrpcSecurity | undefined): GrpcSecurity {
    try {
      return grpcSecurity(upstream, secrets, known);
    } catch (error) {
      close();
      prepared = undefined;
      throw error;
    }
  }

  function prepare(): Prepared {
    const upstream = find();
    if (!upstream) throw failure('the upstream does not exist');
    const same = prepared?.upstream === upstream ? prepared : undefined;
    if (same && (!upstream.tls || performance.now() - same.readAt < REREAD_MS)) return same;
    const security = securityOf(upstream, same?.security);
    if (same?.security !== security) close();
    const { connectTimeout } = upstream.spec.connectionConfig ?? {};
    const connectMs = (connectTimeout && parseDuration(connectTimeout)) || DEFAULT_CONNECT_MS;
    const next = pick ?? same?.next ?? createRoundRobin(upstream.endpoints);
    return (prepared = { upstream, security, connectMs, next, readAt: performance.now() });
  }

  /** Returns the next endpoint; `serverName` is the name for TLS, if it is not the address. */
  function next() {
    const { security, next: take, connectMs } = prepare();
    const endpoint = take();
    if (!endpoint) throw failure('the upstream has no endpoint');
    const { credentials } = security;
    return { address: addressOf(endpoint), credentials, serverName: security.serverName(endpoint), connectMs };
  }

  /** Returns the client of the next endpoint; `connectMs` is the timeout for its first connection. */
  function client(): { readonly client: Client; readonly connectMs: number } {
    const { address, credentials, serverName, connectMs } = next();
    const place = `${address} ${serverName ?? ''}`;
    const known = clients.get(place);
    if (known) return { client: known.current(), connectMs };
    const options = {
      ...channelOptions({ maxBytes, keepaliveMs, ...keepaliveOf(prepared!.upstream) }),
      'grpc.initial_reconnect_backoff_ms': FIRST_RECONNECT_MS,
      'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_MS,
      ...(authority && { 'grpc.default_authority': authority }),
      ...(serverName && { 'grpc.ssl_target_name_override': serverName }),
    };
    const { Client } = grpcLibrary();
    const made = createGrpcClient((watch) => new Client(address, credentials, { ...options, ...watch }));
    clients.set(place, made);
    return { client: made.current(), connectMs };
  }

  let connecting: Promise<boolean> | undefined;

  /**
   * Connects before the first call, so that it needs no more than its own time. Resolves with whether a connection is open after the first attempt,
   * at the latest after the connect timeout. Never rejects.
   */
  function connect(): Promise<boolean> {
    return (connecting ??= connectNext().finally(() => (connecting = undefined)));
  }

  async function connectNext(): Promise<boolean> {
    try {
      const made = client();
      return await isConnected(made.client, Date.now() + made.connectMs);
    } catch {
      // A call reports the problem.
      return false;
    }
  }

  return { next, client, connect, close };
}

/** Returns the pings that an upstream configures. */
function keepaliveOf({ spec }: SnapshotUpstream): Pick<GrpcChannelSettings, 'keepaliveMs' | 'keepaliveTimeoutMs'> {
  const { interval, timeout } = spec.connectionKeepalive ?? {};
  if (!interval) return {};
  return {
    keepaliveMs: parseDuration(interval),
    keepaliveTimeoutMs: parseDuration(timeout ?? DEFAULTS.http2PingTimeout),
  };
}

/** Connects a client, and returns whether its first attempt succeeds before the deadline. */
function isConnected(client: Client, deadline: number): Promise<boolean> {
  const { connectivityState } = grpcLibrary();
  const channel = client.getChannel();
  return new Promise((resolve) => {
    const check = (): void => {
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) return resolve(true);
      if (state === connectivityState.TRANSIENT_FAILURE || state === connectivityState.SHUTDOWN) return resolve(false);
      channel.watchConnectivityState(state, deadline, (error) => (error ? resolve(false) : check()));
    };
    check();
  });
}

/** The name of an endpoint as gRPC has it. */
function addressOf({ address, port }: Endpoint): string {
  if (address.startsWith('/')) return `unix:${address}`;
  if (address.startsWith('@')) return `unix-abstract:${address.slice(1)}`;
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** The clients of one upstream. */
export type GrpcClients = ReturnType<typeof createGrpcClients>;
