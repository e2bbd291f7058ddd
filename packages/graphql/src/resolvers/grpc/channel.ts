import {
  createRoundRobin,
  DEFAULTS,
  parseDuration,
  type Endpoint,
  type Secrets,
  type SnapshotUpstream,
} from '@edge-gateway/core';
import { Client } from '@grpc/grpc-js';
import { FieldFailure } from '../../errors/field-failure.ts';
import { grpcSecurity, type GrpcSecurity } from './credentials.ts';
import { callUnary, type GrpcCall } from './unary.ts';

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

/** Creates connections to the endpoints of one upstream, by weighted round robin, which follow changes of it and its certificates. */
export function createGrpcChannel(
  find: () => SnapshotUpstream | undefined,
  { secrets, maxBytes }: { readonly secrets: Secrets; readonly maxBytes: number },
) {
  let prepared: Prepared | undefined;
  const clients = new Map<string, Client>();

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
    if (!upstream) throw new FieldFailure('the upstream does not exist');
    const same = prepared?.upstream === upstream ? prepared : undefined;
    if (same && (!upstream.tls || performance.now() - same.readAt < REREAD_MS)) return same;
    const security = securityOf(upstream, same?.security);
    if (same?.security !== security) close();
    const { connectTimeout } = upstream.spec.connectionConfig ?? {};
    const connectMs = (connectTimeout && parseDuration(connectTimeout)) || DEFAULT_CONNECT_MS;
    const next = same?.next ?? createRoundRobin(upstream.endpoints);
    return (prepared = { upstream, security, connectMs, next, readAt: performance.now() });
  }

  /** Returns the next endpoint; `serverName` is the name for TLS, if it is not the address. */
  function next() {
    const { security, next: take } = prepare();
    const endpoint = take();
    if (!endpoint) throw new FieldFailure('the upstream has no endpoint');
    const { address, port } = endpoint;
    const host = address.includes(':') ? `[${address}]` : address;
    const { credentials } = security;
    return { address: `${host}:${port}`, credentials, serverName: security.serverName(endpoint) };
  }

  function client(): Client {
    const { address, credentials, serverName } = next();
    const place = `${address} ${serverName ?? ''}`;
    const known = clients.get(place);
    if (known) return known;
    const made = new Client(address, credentials, {
      'grpc.max_receive_message_length': maxBytes,
      'grpc.enable_retries': 0,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.initial_reconnect_backoff_ms': FIRST_RECONNECT_MS,
      'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_MS,
      ...(serverName && { 'grpc.ssl_target_name_override': serverName }),
    });
    clients.set(place, made);
    return made;
  }

  return {
    /** Rejects with a `GrpcFailure`, or with an `Error` if the upstream is invalid. */
    async call(call: GrpcCall): Promise<Uint8Array> {
      const own = client();
      return callUnary(own, call, prepared!.connectMs);
    },
    next,
    close,
  };
}

export type GrpcChannel = ReturnType<typeof createGrpcChannel>;
