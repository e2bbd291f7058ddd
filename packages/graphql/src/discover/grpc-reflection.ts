import { Client, type ChannelCredentials, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';

/** The result of reflection. */
export interface Reflected {
  /** A serialized `FileDescriptorSet` with its imports, in order of dependency. */
  readonly descriptorSet: Uint8Array;
  /** Full names, without those of reflection and health. */
  readonly services: readonly string[];
}

export interface ReflectOptions {
  readonly credentials: ChannelCredentials;
  /** Timeout of all requests in milliseconds. */
  readonly timeoutMs: number;
  /** Server name for TLS, if it is not the address. */
  readonly serverName?: string;
}

const PROTOCOLS = ['grpc.reflection.v1', 'grpc.reflection.v1alpha'] as const;
const OWN = /^grpc\.(reflection|health|channelz)\./;
const MAX_FILES = 1000;
const MAX_SERVICES = 1000;
/** Maximum size of all files together. */
const MAX_BYTES = 10 * 1024 * 1024;
const UNIMPLEMENTED = 12;

const MESSAGES = protobuf.Root.fromJSON({
  nested: {
    Request: {
      oneofs: { message: { oneof: ['fileByFilename', 'fileContainingSymbol', 'listServices'] } },
      fields: {
        fileByFilename: { type: 'string', id: 3 },
        fileContainingSymbol: { type: 'string', id: 4 },
        listServices: { type: 'string', id: 7 },
      },
    },
    Files: { fields: { fileDescriptorProto: { rule: 'repeated', type: 'bytes', id: 1 } } },
    ServiceName: { fields: { name: { type: 'string', id: 1 } } },
    Services: { fields: { service: { rule: 'repeated', type: 'ServiceName', id: 1 } } },
    Failure: { fields: { errorCode: { type: 'int32', id: 1 }, errorMessage: { type: 'string', id: 2 } } },
    Response: {
      fields: {
        files: { type: 'Files', id: 4 },
        services: { type: 'Services', id: 6 },
        failure: { type: 'Failure', id: 7 },
      },
    },
  },
});
const REQUEST = MESSAGES.lookupType('Request');
const RESPONSE = MESSAGES.lookupType('Response');

type Request = Readonly<Partial<Record<'fileByFilename' | 'fileContainingSymbol' | 'listServices', string>>>;

interface Response {
  readonly files?: { readonly fileDescriptorProto: readonly Uint8Array[] };
  readonly services?: { readonly service: readonly { readonly name: string }[] };
  readonly failure?: { readonly errorMessage: string };
}

/** The server returned more than the limits. */
export class TooMuchReflected extends Error {}

/**
 * Reads the services of a gRPC server at `host:port` by reflection of version `v1`, else `v1alpha`. Rejects with gRPC's
 * error if there is no such server, with an `Error` for invalid responses, with `TooMuchReflected` above 1,000
 * services, 1,000 files or 10 MiB.
 */
export async function reflect(address: string, options: ReflectOptions): Promise<Reflected> {
  const override = options.serverName && { 'grpc.ssl_target_name_override': options.serverName };
  const client = new Client(address, options.credentials, { ...override, 'grpc.enable_retries': 0 });
  const deadline = Date.now() + options.timeoutMs;
  try {
    for (const protocol of PROTOCOLS) {
      try {
        return await readAll(client, protocol, deadline);
      } catch (error) {
        if ((error as ServiceError).code !== UNIMPLEMENTED || protocol === PROTOCOLS[1]) throw error;
      }
    }
    throw new Error('no reflection');
  } finally {
    client.close();
  }
}

async function readAll(client: Client, protocol: string, deadline: number): Promise<Reflected> {
  const stream = client.makeBidiStreamRequest<Request, Response>(
    `/${protocol}.ServerReflection/ServerReflectionInfo`,
    (request) => Buffer.from(REQUEST.encode(request).finish()),
    (bytes) => RESPONSE.decode(bytes) as unknown as Response,
    { deadline },
  );
  const ask = asker(stream);
  const { services: listed } = await ask({ listServices: '*' });
  const services = (listed?.service ?? []).map(({ name }) => name).filter((name) => !OWN.test(name));
  if (services.length > MAX_SERVICES)
    throw new TooMuchReflected(`${services.length} services, at most ${MAX_SERVICES} are read`);
  const files = await readFiles(services, ask);
  stream.end();
  const set = descriptor.FileDescriptorSet.create({ file: inOrder(files) });
  return { descriptorSet: descriptor.FileDescriptorSet.encode(set).finish(), services };
}

type Ask = (request: Request) => Promise<Response>;

/** Sends one request at a time: responses come in the order of the requests. */
function asker(stream: ClientDuplexStream<Request, Response>): Ask {
  let answered: { resolve(response: Response): void; reject(error: Error): void } | undefined;
  let over: Error | undefined;
  const end = (error: Error): void => {
    over = error;
    answered?.reject(error);
  };
  stream.on('data', (response: Response) => answered?.resolve(response));
  stream.on('error', end);
  stream.on('end', () => end(new Error('reflection ended early')));
  return async (request) => {
    if (over) throw over;
    const response = await new Promise<Response>((resolve, reject) => {
      answered = { resolve, reject };
      stream.write(request);
    });
    if (response.failure) throw new Error(`reflection: ${response.failure.errorMessage.slice(0, 200)}`);
    return response;
  };
}

interface FileDescriptor {
  readonly name: string;
  readonly dependency: readonly string[];
}

/** Returns the files of services, and their imports. */
async function readFiles(services: readonly string[], ask: Ask): Promise<Map<string, FileDescriptor>> {
  const files = new Map<string, FileDescriptor>();
  const wanted: string[] = [];
  let size = 0;
  const take = ({ files: given }: Response): void => {
    for (const bytes of given?.fileDescriptorProto ?? []) {
      size += bytes.length;
      if (size > MAX_BYTES) throw new TooMuchReflected(`more than ${MAX_BYTES} bytes of descriptors`);
      const file = descriptor.FileDescriptorProto.decode(bytes) as unknown as FileDescriptor;
      if (!files.has(file.name)) wanted.push(...file.dependency);
      files.set(file.name, file);
      if (files.size > MAX_FILES) throw new TooMuchReflected(`more than ${MAX_FILES} files of descriptors`);
    }
  };
  for (const name of services) take(await ask({ fileContainingSymbol: name }));
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (files.has(name)) continue;
    take(await ask({ fileByFilename: name }));
    if (!files.has(name)) throw new Error(`the import ${name} is missing`);
  }
  return files;
}

function inOrder(files: ReadonlyMap<string, FileDescriptor>): FileDescriptor[] {
  const ordered = new Set<FileDescriptor>();
  const visited = new Set<string>();
  const visit = (name: string): void => {
    const file = files.get(name);
    if (!file || visited.has(name)) return;
    visited.add(name);
    for (const dependency of file.dependency) visit(dependency);
    ordered.add(file);
  };
  for (const name of files.keys()) visit(name);
  return [...ordered];
}
