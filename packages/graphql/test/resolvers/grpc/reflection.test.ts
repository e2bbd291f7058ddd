import { credentials, Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { expect } from 'chai';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { reflect, TooMuchReflected } from '../../../src/resolvers/grpc/reflection.ts';

const RESPONSE = protobuf
  .parse(`
  syntax = "proto3";
  message Files { repeated bytes file_descriptor_proto = 1; }
  message Service { string name = 1; }
  message Services { repeated Service service = 1; }
  message Response { Files files = 4; Services services = 6; }
`)
  .root.lookupType('Response');
const REQUEST = protobuf
  .parse(`
  syntax = "proto3";
  message Request { string file_by_filename = 3; string file_containing_symbol = 4; string list_services = 7; }
`)
  .root.lookupType('Request');

/** A file that imports others. */
interface File {
  readonly name: string;
  readonly dependency?: readonly string[];
  readonly package?: string;
}

/** A server whose reflection lists these services and gives whatever file is asked for. */
async function reflecting(services: readonly string[], fileOf: (name: string) => File): Promise<string> {
  const server = new Server({ 'grpc.max_send_message_length': -1 });
  const encode = (file: File): Uint8Array =>
    descriptor.FileDescriptorProto.encode(descriptor.FileDescriptorProto.create(file as object)).finish();
  const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
  const method = {
    path,
    requestStream: true,
    responseStream: true,
    requestSerialize: () => Buffer.alloc(0),
    requestDeserialize: (bytes: Buffer) => REQUEST.decode(bytes),
    responseSerialize: (value: object) => Buffer.from(RESPONSE.encode(RESPONSE.create(value)).finish()),
    responseDeserialize: () => ({}),
  };
  server.addService({ info: method } as never, {
    info(stream: ServerDuplexStream<any, object>) {
      stream.on('data', ({ fileByFilename, fileContainingSymbol }) => {
        const name = fileByFilename || fileContainingSymbol;
        if (name) stream.write({ files: { fileDescriptorProto: [encode(fileOf(name))] } });
        else stream.write({ services: { service: services.map((each) => ({ name: each })) } });
      });
      stream.on('end', () => stream.end());
      stream.on('error', () => {});
    },
  });
  open.push(server);
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(`127.0.0.1:${port}`),
    );
  });
}

const open: Server[] = [];

function failureOf(address: string): Promise<Error | undefined> {
  return reflect(address, { credentials: credentials.createInsecure(), timeoutMs: 60_000 }).then(
    () => undefined,
    (error: Error) => error,
  );
}

describe('reflection of a gRPC server', function () {
  this.timeout(60_000);
  afterEach(() => {
    for (const server of open.splice(0)) server.forceShutdown();
  });

  it('reads each file once, imports before what imports them', async () => {
    const asked: string[] = [];
    const files: Record<string, File> = {
      'a.A': { name: 'a.proto', dependency: ['b.proto', 'c.proto'] },
      'a.B': { name: 'a.proto', dependency: ['b.proto', 'c.proto'] },
      'b.proto': { name: 'b.proto', dependency: ['c.proto'] },
      'c.proto': { name: 'c.proto' },
    };
    const address = await reflecting(['a.A', 'a.B', 'grpc.health.v1.Health'], (name) => {
      asked.push(name);
      return files[name]!;
    });
    const reflected = await reflect(address, { credentials: credentials.createInsecure(), timeoutMs: 60_000 });
    expect(asked.toSorted()).to.deep.equal(['a.A', 'a.B', 'b.proto', 'c.proto']);
    expect(reflected.services).to.deep.equal(['a.A', 'a.B']);
    const { file } = descriptor.FileDescriptorSet.decode(reflected.descriptorSet) as any;
    expect(file.map(({ name }: File) => name)).to.deep.equal(['c.proto', 'b.proto', 'a.proto']);
  });

  it('rejects a missing import', async () => {
    const address = await reflecting(['a.A'], () => ({ name: 'a.proto', dependency: ['gone.proto'] }));
    expect(await failureOf(address)).to.have.property('message', 'the import gone.proto is missing');
  });

  const tooMuch: Record<string, [readonly string[], (name: string) => File, string]> = {
    services: [Array.from({ length: 1001 }, (_, i) => `a.S${i}`), () => ({ name: 'a.proto' }), '1001 services'],
    files: [['0'], (name) => ({ name, dependency: [String(Number(name) + 1)] }), 'more than 1000 files of descriptors'],
    bytes: [
      ['0'],
      (name) => ({ name, package: 'x'.repeat(3_000_000), dependency: [String(Number(name) + 1)] }),
      'more than 10485760 bytes of descriptors',
    ],
  };
  for (const [what, [services, fileOf, reason]] of Object.entries(tooMuch)) {
    it(`rejects a server with too many ${what}`, async () => {
      const failed = await failureOf(await reflecting(services, fileOf));
      expect(failed).to.be.instanceOf(TooMuchReflected);
      expect(failed!.message).to.include(reason);
    });
  }
});
