import { startTimer } from '@edge-gateway/core';
import { connectivityState, Metadata, status, type Client, type ServiceError } from '@grpc/grpc-js';
import { FieldFailure } from '../../errors/field-failure.ts';

export interface GrpcCall {
  readonly path: string;
  readonly message: Uint8Array;
  readonly metadata: readonly (readonly [string, string])[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export class GrpcFailure extends FieldFailure {
  readonly status: number;
  /** True if there was no connection: the server cannot have received the call. */
  readonly unsent: boolean;

  constructor(
    error: Pick<ServiceError, 'code' | 'details'>,
    { aborted, unsent }: { aborted: boolean; unsent: boolean },
  ) {
    const { code, details } = error;
    super(`gRPC status ${code}: ${details}`, {
      type: String(code),
      ...(aborted && { code: 'ERR_GRAPHQL_TIMEOUT' }),
    });
    this.status = code;
    this.unsent = unsent;
  }
}

/** Makes a call. Rejects if no connection after `connectMs`, or no response within its timeout. */
export function callUnary(client: Client, call: GrpcCall, connectMs: number): Promise<Uint8Array> {
  const { path, message, metadata, timeoutMs, signal } = call;
  const sent = new Metadata();
  for (const [name, value] of metadata) sent.add(name, value);
  const channel = client.getChannel();
  const isConnected = (): boolean => channel.getConnectivityState(false) === connectivityState.READY;
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    let late = false;
    const done = (error: ServiceError | null, answer?: Buffer): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      if (!error) return resolve(answer ?? new Uint8Array());
      const unsent =
        late || (error.code === status.UNAVAILABLE && error.details.startsWith('No connection established'));
      const cause = late ? { code: status.UNAVAILABLE, details: `no connection in ${connectMs} ms` } : error;
      reject(new GrpcFailure(cause, { aborted: signal.aborted, unsent }));
    };
    const options = { deadline: Date.now() + timeoutMs };
    const same = (bytes: Buffer): Buffer => bytes;
    const made = client.makeUnaryRequest(path, same, same, Buffer.from(message), sent, options, done);
    const abort = (): void => made.cancel();
    if (connectMs < timeoutMs && !isConnected()) {
      timer = startTimer(() => {
        late = !isConnected();
        if (late) abort();
      }, connectMs);
    }
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
