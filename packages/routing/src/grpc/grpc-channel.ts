import { isDeepStrictEqual } from 'node:util';
import type { ChannelCredentials, Client, ClientWritableStream, Metadata, ServiceError } from '@grpc/grpc-js';
import {
  createUpstreamTls,
  readTlsMaterial,
  type Endpoint,
  type Secrets,
  type SnapshotUpstream,
  type TlsMaterial,
} from '@edge-gateway/core';
import { hostOf } from '../http1/authority.ts';

type Grpc = typeof import('@grpc/grpc-js');

/** The server of a channel: an upstream of the newest snapshot, or a fixed address. */
export interface GrpcTarget {
  readonly snapshot: SnapshotUpstream;
  pick(): Endpoint | undefined;
}

export interface GrpcChannelParts {
  /** Returns the server at each call; `undefined` if it does not exist. */
  readonly find: () => GrpcTarget | undefined;
  readonly secrets: Secrets;
  /** `:authority` of the calls. Default: the address. */
  readonly authority?: string;
}

/** Connections to the endpoints of one server over HTTP/2. gRPC is loaded by the first call. */
export type GrpcChannel = ReturnType<typeof createGrpcChannel>;

/** A call whose requests are a stream; the server responds at its end. */
export type GrpcStream = ClientWritableStream<Buffer>;

interface Security {
  readonly credentials: ChannelCredentials;
  readonly material: TlsMaterial | undefined;
  serverName(endpoint: Endpoint): string | undefined;
}

const FIRST_RECONNECT_MS = 100;
const MAX_RECONNECT_MS = 5_000;
const same = (bytes: Buffer): Buffer => bytes;

/** Creates a channel. Connections follow changes of the server and its certificates; `close` releases them until the next call. */
export function createGrpcChannel({ find, secrets, authority }: GrpcChannelParts) {
  const clients = new Map<string, Client>();
  let security: Security | undefined;

  function close(): void {
    for (const client of clients.values()) client.close();
    clients.clear();
  }

  function securityOf(grpc: Grpc, upstream: SnapshotUpstream): Security {
    const material = upstream.tls ? readTlsMaterial(upstream, secrets) : undefined;
    if (security && isDeepStrictEqual(security.material, material)) return security;
    close();
    if (!material)
      return (security = { credentials: grpc.credentials.createInsecure(), material, serverName: () => undefined });
    const { secureContext, checkServerIdentity, serverName } = createUpstreamTls(upstream, material);
    const credentials = grpc.credentials.createFromSecureContext(secureContext, { checkServerIdentity });
    return (security = { credentials, material, serverName });
  }

  async function client(): Promise<Client> {
    const grpc = await import('@grpc/grpc-js');
    const target = find();
    const endpoint = target?.pick();
    if (!target || !endpoint) throw new Error(target ? 'the upstream has no endpoint' : 'the upstream does not exist');
    const { credentials, serverName } = securityOf(grpc, target.snapshot);
    const address = addressOf(endpoint);
    const name = serverName(endpoint);
    const key = `${address} ${name ?? ''}`;
    let known = clients.get(key);
    if (!known) {
      known = new grpc.Client(address, credentials, {
        'grpc.enable_retries': 0,
        'grpc.use_local_subchannel_pool': 1,
        'grpc.initial_reconnect_backoff_ms': FIRST_RECONNECT_MS,
        'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_MS,
        ...(authority && { 'grpc.default_authority': authority }),
        ...(name && { 'grpc.ssl_target_name_override': name }),
      });
      clients.set(key, known);
    }
    return known;
  }

  async function metadataOf(headers: readonly string[]): Promise<Metadata> {
    const { Metadata: Headers } = await import('@grpc/grpc-js');
    const metadata = new Headers();
    for (let i = 0; i < headers.length; i += 2) metadata.add(headers[i]!, headers[i + 1]!);
    return metadata;
  }

  return {
    /** Makes a call with one request and one response. Rejects with the error of the call. */
    async unary(path: string, message: Buffer, { headers = NONE, timeoutMs }: GrpcCallOptions): Promise<Buffer> {
      const own = await client();
      const metadata = await metadataOf(headers);
      return new Promise((resolve, reject) => {
        const options = { deadline: Date.now() + timeoutMs };
        const done = (error: ServiceError | null, response?: Buffer): void => {
          if (error) reject(error);
          else resolve(response ?? Buffer.alloc(0));
        };
        own.makeUnaryRequest(path, same, same, message, metadata, options, done);
      });
    },
    /** Opens a stream of requests; `onEnd` is called once, when the call has ended for any reason. */
    async stream(path: string, onEnd: (error: ServiceError | null) => void): Promise<GrpcStream> {
      const own = await client();
      return own.makeClientStreamRequest(path, same, same, await metadataOf(NONE), {}, (error) => onEnd(error));
    },
    close,
  };
}

function addressOf(endpoint: Endpoint): string {
  const { address } = endpoint;
  if (address.startsWith('/')) return `unix:${address}`;
  return address.startsWith('@') ? `unix-abstract:${address.slice(1)}` : hostOf(endpoint);
}

interface GrpcCallOptions {
  /** Flat, names in lower case. */
  readonly headers?: readonly string[];
  readonly timeoutMs: number;
}

const NONE: readonly string[] = [];
