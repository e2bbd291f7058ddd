import type { Definition } from '@edge-gateway/core/grpc';

type Grpc = typeof import('@edge-gateway/core/grpc');

/** Returns the definitions of messages, from the function that defines one. */
export type DefineMessages = (grpc: Pick<Grpc, 'message' | 'STRUCT_MESSAGES'>) => Readonly<Record<string, Definition>>;

/** Returns the writer of a message; the protocol library is loaded by the first call. */
export async function loadEncoder(define: DefineMessages, name: string): Promise<(value: object) => Buffer> {
  const grpc = await import('@edge-gateway/core/grpc');
  const sender = { methods: { Send: { requestType: name, responseType: name } } };
  const definitions = { ...define(grpc), Sender: sender };
  return grpc.grpcService('messages', 'Sender', definitions).service['Send']!.requestSerialize;
}
