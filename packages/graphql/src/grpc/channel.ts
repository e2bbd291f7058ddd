import { Client, Metadata, type ServiceError } from '@grpc/grpc-js';
import type { Secrets, SnapshotUpstream } from '@edge-gateway/core';
import { FieldFailure } from '../field-failure.ts';
import { grpcSecurity, type GrpcSecurity } from './credentials.ts';

/** One unary call, in bytes. */
export interface GrpcCall {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly message: Uint8Array;
  readonly metadata: readonly (readonly [string, string])[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Connections to the endpoints of one upstream, taken in turn. */
export interface GrpcChannel {
  call(call: GrpcCall): Promise<Uint8Array>;
  /** `host:port` of the next endpoint, with how it is connected to. */
  next(): { readonly address: string; readonly security: GrpcSecurity };
  close(): void;
}

/** Makes a channel that follows an upstream as it changes. */
export function createGrpcChannel(
  find: () => SnapshotUpstream | undefined,
  { secrets, maxBytes }: { readonly secrets: Secrets; readonly maxBytes: number },
): GrpcChannel {
  let upstream: SnapshotUpstream | undefined;
  let security: GrpcSecurity | undefined;
  let turn = 0;
  const clients = new Map<string, Client>();

  function close(): void {
    for (const client of clients.values()) client.close();
    clients.clear();
  }

  function next(): ReturnType<GrpcChannel['next']> {
    const now = find();
    if (!now || now.endpoints.length === 0) throw new FieldFailure('the upstream has no endpoint');
    if (now !== upstream || !security) {
      close();
      security = grpcSecurity(now, secrets);
      upstream = now;
    }
    const { address, port } = now.endpoints[turn++ % now.endpoints.length]!;
    return { address: `${address.includes(':') ? `[${address}]` : address}:${port}`, security };
  }

  function client(): Client {
    const { address, security: own } = next();
    const known = clients.get(address);
    if (known) return known;
    const made = new Client(address, own.credentials, {
      'grpc.max_receive_message_length': maxBytes,
      'grpc.enable_retries': 0,
      'grpc.use_local_subchannel_pool': 1,
      ...(own.serverName && { 'grpc.ssl_target_name_override': own.serverName }),
    });
    clients.set(address, made);
    return made;
  }

  return { call: (call) => unary(client(), call), next, close };
}

function unary(client: Client, { path, message, metadata, timeoutMs, signal }: GrpcCall): Promise<Uint8Array> {
  const sent = new Metadata();
  for (const [name, value] of metadata) sent.add(name, value);
  return new Promise((resolve, reject) => {
    const done = (error: ServiceError | null, answer?: Buffer): void => {
      signal.removeEventListener('abort', abort);
      if (error) reject(failureOf(error, signal.aborted));
      else resolve(answer ?? new Uint8Array());
    };
    const options = { deadline: Date.now() + timeoutMs };
    const same = (bytes: Buffer): Buffer => bytes;
    const call = client.makeUnaryRequest(path, same, same, Buffer.from(message), sent, options, done);
    const abort = (): void => call.cancel();
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

function failureOf({ code, details }: ServiceError, aborted: boolean): FieldFailure {
  return new FieldFailure(`gRPC status ${code}: ${details}`, aborted ? { code: 'ERR_GRAPHQL_TIMEOUT' } : {});
}
