import { create, createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FieldDescriptorProto,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt';
import { Client, type ChannelCredentials, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';
import { channelOptions } from '@edge-gateway/core/grpc';
import { filesInImportOrder } from '@edge-gateway/core/descriptors';

export interface Reflected {
  /** A serialized `FileDescriptorSet` with its imports, in order of dependency. */
  readonly descriptorSet: Uint8Array;
  /** Full names, without those of reflection and health. */
  readonly services: readonly string[];
}

export interface ReflectOptions {
  readonly credentials: ChannelCredentials;
  readonly timeoutMs: number;
  /** Server name for TLS, if it is not the address. */
  readonly serverName?: string;
}

const PROTOCOLS = ['grpc.reflection.v1', 'grpc.reflection.v1alpha'] as const;
const OWN = /^grpc\.(reflection|health|channelz)\./;
const MAX_FILES = 1000;
const MAX_SERVICES = 1000;
const MAX_BYTES = 10 * 1024 * 1024;
const UNIMPLEMENTED = 12;

const { STRING, BYTES, INT32, MESSAGE } = FieldDescriptorProto_Type;

function field(name: string, number: number, type: FieldDescriptorProto_Type, typeName?: string) {
  const { OPTIONAL, REPEATED } = FieldDescriptorProto_Label;
  const label = name.endsWith('[]') ? REPEATED : OPTIONAL;
  return create(FieldDescriptorProtoSchema, { name: name.replace('[]', ''), number, type, label, typeName });
}

/** The part of `grpc.reflection.v1` that is used. */
const MESSAGES: Readonly<Record<string, readonly FieldDescriptorProto[]>> = {
  Request: [
    field('fileByFilename', 3, STRING),
    field('fileContainingSymbol', 4, STRING),
    field('listServices', 7, STRING),
  ],
  Files: [field('fileDescriptorProto[]', 1, BYTES)],
  Service: [field('name', 1, STRING)],
  Services: [field('service[]', 1, MESSAGE, '.Service')],
  Failure: [field('errorCode', 1, INT32), field('errorMessage', 2, STRING)],
  Response: [
    field('files', 4, MESSAGE, '.Files'),
    field('services', 6, MESSAGE, '.Services'),
    field('failure', 7, MESSAGE, '.Failure'),
  ],
};
const REGISTRY = createFileRegistry(
  create(FileDescriptorProtoSchema, {
    name: 'reflection.proto',
    syntax: 'proto3',
    messageType: Object.entries(MESSAGES).map(([name, fields]) => ({ name, field: [...fields] })),
  }),
  () => undefined,
);
const REQUEST = REGISTRY.getMessage('Request')!;
const RESPONSE = REGISTRY.getMessage('Response')!;

type Request = Readonly<Partial<Record<'fileByFilename' | 'fileContainingSymbol' | 'listServices', string>>>;

interface Response {
  readonly files?: { readonly fileDescriptorProto: readonly Uint8Array[] };
  readonly services?: { readonly service: readonly { readonly name: string }[] };
  readonly failure?: { readonly errorMessage: string };
}

export class TooMuchReflected extends Error {}

/**
 * Reads the services of a gRPC server at `host:port` by reflection of version `v1`, else `v1alpha`. Rejects with gRPC's
 * error if there is no such server, with an `Error` for invalid responses, with `TooMuchReflected` above 1,000
 * services, 1,000 files or 10 MiB.
 */
export async function reflect(address: string, options: ReflectOptions): Promise<Reflected> {
  const override = options.serverName && { 'grpc.ssl_target_name_override': options.serverName };
  const client = new Client(address, options.credentials, { ...channelOptions({ maxBytes: MAX_BYTES }), ...override });
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
    (request) => Buffer.from(toBinary(REQUEST, create(REQUEST, request))),
    (bytes) => fromBinary(RESPONSE, bytes) as Response,
    { deadline },
  );
  const ask = asker(stream);
  const { services: listed } = await ask({ listServices: '*' });
  const services = (listed?.service ?? []).map(({ name }) => name).filter((name) => !OWN.test(name));
  if (services.length > MAX_SERVICES)
    throw new TooMuchReflected(`${services.length} services, at most ${MAX_SERVICES} are read`);
  const files = await readFiles(services, ask);
  stream.end();
  const set = create(FileDescriptorSetSchema, { file: filesInImportOrder(files.values(), files) });
  return { descriptorSet: toBinary(FileDescriptorSetSchema, set), services };
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

async function readFiles(services: readonly string[], ask: Ask): Promise<Map<string, FileDescriptorProto>> {
  const files = new Map<string, FileDescriptorProto>();
  const wanted: string[] = [];
  let size = 0;
  const take = ({ files: given }: Response): void => {
    for (const bytes of given?.fileDescriptorProto ?? []) {
      size += bytes.length;
      if (size > MAX_BYTES) throw new TooMuchReflected(`more than ${MAX_BYTES} bytes of descriptors`);
      const file = fromBinary(FileDescriptorProtoSchema, bytes);
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
