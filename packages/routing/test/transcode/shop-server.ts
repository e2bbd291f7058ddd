import {
  create,
  fromBinary,
  toBinary,
  type DescMethod,
  type Message,
  type MessageInitShape,
  type DescMessage,
} from '@bufbuild/protobuf';
import { messageRegistry } from '@edge-gateway/core/descriptors';
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { addReflection } from './reflection.ts';
import { shopDescriptors } from './shop.ts';

const registry = messageRegistry(shopDescriptors());
const service = registry.getService('shop.Shop')!;

type Fields = Record<string, unknown>;
type Call = ServerDuplexStream<Fields, Fields> & { readonly request: Fields };
type Reply = (error: object | null, value?: unknown, trailers?: Metadata) => void;

/** A running server of `shop.Shop`. */
export interface ShopServer {
  readonly port: number;
  /** The calls: method, message and metadata. */
  readonly calls: {
    readonly method: string;
    readonly request: unknown;
    readonly metadata: Readonly<Record<string, unknown>>;
  }[];
  close(): void;
}

function codec(type: DescMessage) {
  return {
    serialize: (fields: unknown) => Buffer.from(toBinary(type, create(type, fields as MessageInitShape<DescMessage>))),
    deserialize: (bytes: Buffer) => fromBinary(type, bytes),
  };
}

function definitionOf(method: DescMethod) {
  const [input, output] = [codec(method.input), codec(method.output)];
  return {
    path: `/shop.Shop/${method.name}`,
    requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    requestSerialize: input.serialize,
    requestDeserialize: input.deserialize,
    responseSerialize: output.serialize,
    responseDeserialize: output.deserialize,
  };
}

/** Starts a server of `shop.Shop` on a free port. Most methods return their request. With `reflection` it returns these descriptors. */
export async function startShop({ reflection }: { readonly reflection?: () => Uint8Array } = {}): Promise<ShopServer> {
  const calls: ShopServer['calls'] = [];
  const noted = (method: string, call: Call): Call => {
    calls.push({ method, request: call.request, metadata: call.metadata.getMap() });
    return call;
  };
  const same = (method: string) => (call: Call, reply: Reply) => reply(null, noted(method, call).request);
  const failure = ({ request }: Call): object => {
    const metadata = new Metadata();
    if (request['detail'])
      metadata.set('grpc-status-details-bin', Buffer.from([8, Number(request['code']), 18, 2, 104, 105]));
    return { code: Number(request['code']), details: String(request['message']), metadata };
  };
  const unary = ['Get', 'Add', 'Change', 'Remove', 'Archive', 'Echo', 'Upload', 'Store', 'Hidden'];
  const implementation: Readonly<Record<string, unknown>> = {
    ...Object.fromEntries(unary.map((name) => [name, same(name)])),
    List(call: Call, reply: Reply) {
      const { shelf, size } = noted('List', call).request;
      const books = Array.from({ length: Number(size) }, (_, i) => ({ id: BigInt(i + 1), title: String(shelf) }));
      reply(null, { books });
    },
    Fail: (call: Call, reply: Reply) => reply(failure(noted('Fail', call))),
    Watch(call: Call) {
      const { after, code } = noted('Watch', call).request;
      for (let i = 1; i <= Number(after); i++) call.write({ id: BigInt(i) });
      if (code === 0) call.end();
      else call.emit('error', failure(call));
    },
    Download(call: Call) {
      const { after } = noted('Download', call).request;
      for (let i = 1; i <= Number(after); i++) call.write({ contentType: 'text/csv', data: Buffer.from(`${i}\n`) });
      call.end();
    },
    Collect(call: Call, reply: Reply) {
      const books: Message[] = [];
      noted('Collect', call).on('data', (book: Message) => void books.push(book));
      call.on('end', () => reply(null, { books })).on('error', () => {});
    },
    Chat(call: Call) {
      noted('Chat', call).on('data', (book: Fields) => void call.write(book));
      call.on('end', () => call.end()).on('error', () => {});
    },
  };
  const server = new Server();
  server.addService(
    Object.fromEntries(service.methods.map((method) => [method.name, definitionOf(method)])),
    implementation as UntypedServiceImplementation,
  );
  if (reflection) addReflection(server, reflection);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return { port, calls, close: () => server.forceShutdown() };
}
