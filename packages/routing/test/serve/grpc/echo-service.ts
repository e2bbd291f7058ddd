import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type CallOptions,
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type ServiceError,
} from '@grpc/grpc-js';
import { whenDone } from '../../forward/harness.ts';

const serialize = (text: string): Buffer => Buffer.from(text);
const deserialize = (bytes: Buffer): string => bytes.toString();

function method(path: string, requestStream: boolean, responseStream: boolean) {
  const codec = { requestSerialize: serialize, requestDeserialize: deserialize };
  return {
    path,
    requestStream,
    responseStream,
    ...codec,
    responseSerialize: serialize,
    responseDeserialize: deserialize,
  };
}

const SERVICE = {
  unary: method('/test.Echo/Unary', false, false),
  list: method('/test.Echo/List', false, true),
  join: method('/test.Echo/Join', true, false),
  chat: method('/test.Echo/Chat', true, true),
};

/** Handlers of the service; missing ones are not implemented. */
export interface EchoHandlers {
  readonly unary?: handleUnaryCall<string, string>;
  readonly list?: handleServerStreamingCall<string, string>;
  readonly join?: handleClientStreamingCall<string, string>;
  readonly chat?: handleBidiStreamingCall<string, string>;
}

/** Starts a gRPC server. Returns its port. */
export async function echoServer(handlers: EchoHandlers): Promise<number> {
  const server = new Server();
  server.addService(SERVICE, handlers as never);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  whenDone(() => server.forceShutdown());
  return port;
}

export interface Reply {
  readonly message: string | undefined;
  readonly code: number;
  readonly details: string;
  readonly initial: Metadata | undefined;
  readonly trailing: Metadata | undefined;
}

/** A client of the service. */
export class EchoClient extends Client {
  constructor(port: number) {
    super(`127.0.0.1:${port}`, credentials.createInsecure());
    whenDone(() => this.close());
  }

  unary(text: string, metadata = new Metadata(), options: CallOptions = {}, path = SERVICE.unary.path): Promise<Reply> {
    return new Promise((resolve) => {
      let initial: Metadata | undefined;
      let trailing: Metadata | undefined;
      let result: { readonly error: ServiceError | null; readonly message: string | undefined } | undefined;
      const settle = (): void => {
        if (!result || !trailing) return;
        const { error, message } = result;
        resolve({ message, code: error?.code ?? status.OK, details: error?.details ?? '', initial, trailing });
      };
      const call = this.makeUnaryRequest(path, serialize, deserialize, text, metadata, options, (error, message) => {
        result = { error, message };
        trailing ??= error?.metadata;
        settle();
      });
      call.on('metadata', (received) => (initial = received));
      call.on('status', ({ metadata: received }) => {
        trailing = received;
        settle();
      });
    });
  }

  list(text: string) {
    return this.makeServerStreamRequest(SERVICE.list.path, serialize, deserialize, text);
  }

  join(): { call: { write(text: string): void; end(): void }; reply: Promise<string | undefined> } {
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    const call = this.makeClientStreamRequest(SERVICE.join.path, serialize, deserialize, (error, message) =>
      error ? reject(error) : resolve(message),
    );
    return { call, reply: promise };
  }

  chat() {
    return this.makeBidiStreamRequest(SERVICE.chat.path, serialize, deserialize);
  }
}
