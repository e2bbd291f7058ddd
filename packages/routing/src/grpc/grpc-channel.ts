import type { GrpcClients } from '@edge-gateway/core/grpc';
import type { Endpoint, Secrets, SnapshotUpstream } from '@edge-gateway/core';
import type { ClientWritableStream, Metadata, ServiceError } from '@grpc/grpc-js';

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

export interface GrpcCallOptions {
  /** Flat, names in lower case. */
  readonly headers?: readonly string[];
  readonly timeoutMs: number;
}

/** Calls of one server with messages in bytes. */
export type GrpcChannel = ReturnType<typeof createGrpcChannel>;

/** A call whose requests are a stream; the server responds at its end. */
export type GrpcStream = ClientWritableStream<Buffer>;

const MAX_RESPONSE_BYTES = 65_536;
const NO_HEADERS: readonly string[] = [];
const same = (bytes: Buffer): Buffer => bytes;

const loadGrpc = () => Promise.all([import('@edge-gateway/core/grpc'), import('@grpc/grpc-js')]);

/**
 * Creates a channel, and loads gRPC: in the first call, that would delay the requests that are served meanwhile. Connections follow changes
 * of the server and its certificates; `close` releases them until the next call.
 */
export function createGrpcChannel({ find, secrets, authority }: GrpcChannelParts) {
  let clients: GrpcClients | undefined;
  // The first call reports an error.
  loadGrpc().catch(() => {});

  async function open(headers: readonly string[]) {
    const [{ createGrpcClients }, grpc] = await loadGrpc();
    clients ??= createGrpcClients(() => find()?.snapshot, {
      secrets,
      maxBytes: MAX_RESPONSE_BYTES,
      pick: () => find()?.pick(),
      ...(authority && { authority }),
    });
    const metadata: Metadata = new grpc.Metadata();
    for (let i = 0; i < headers.length; i += 2) metadata.add(headers[i]!, headers[i + 1]!);
    return { client: clients.client().client, metadata };
  }

  return {
    /** Makes a call with one request and one response. Rejects with the error of the call. */
    async unary(path: string, message: Buffer, { headers = NO_HEADERS, timeoutMs }: GrpcCallOptions): Promise<Buffer> {
      const { client, metadata } = await open(headers);
      return new Promise((resolve, reject) => {
        const options = { deadline: Date.now() + timeoutMs };
        const done = (error: ServiceError | null, response?: Buffer): void => {
          if (error) reject(error);
          else resolve(response ?? Buffer.alloc(0));
        };
        client.makeUnaryRequest(path, same, same, message, metadata, options, done);
      });
    },
    /** Opens a stream of requests once there is a connection; `onEnd` is called when the call has ended for any reason. */
    async stream(
      path: string,
      { connectMs, onEnd }: { readonly connectMs: number; readonly onEnd: (error: ServiceError | null) => void },
    ): Promise<GrpcStream> {
      const { client, metadata } = await open(NO_HEADERS);
      await new Promise<void>((resolve, reject) => {
        client.waitForReady(Date.now() + connectMs, (error) => (error ? reject(error) : resolve()));
      });
      return client.makeClientStreamRequest(path, same, same, metadata, {}, (error) => onEnd(error));
    },
    close(): void {
      clients?.close();
    },
  };
}
