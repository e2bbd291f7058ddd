import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema, type FileDescriptorProto } from '@bufbuild/protobuf/wkt';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Server, ServerDuplexStream } from '@grpc/grpc-js';
import { WELL_KNOWN } from './shop.ts';

const FILE_BY_NAME = 3;
const FILE_BY_SYMBOL = 4;

/** Adds reflection to a server, which returns files as they are, with all options of methods. Reads the descriptor set again for each request. */
export function addReflection(server: Server, descriptorSet: () => Uint8Array): void {
  const identity = (bytes: Buffer): Buffer => bytes;
  const method = {
    path: '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
    requestStream: true,
    responseStream: true,
    requestSerialize: identity,
    requestDeserialize: identity,
    responseSerialize: identity,
    responseDeserialize: identity,
  };
  server.addService(
    { info: method } as never,
    {
      info(stream: ServerDuplexStream<Buffer, Buffer>) {
        stream.on('data', (request: Buffer) => {
          const { file } = fromBinary(FileDescriptorSetSchema, descriptorSet());
          stream.write(Buffer.from(response(request, [...file, ...WELL_KNOWN])));
        });
        stream.on('end', () => stream.end()).on('error', () => {});
      },
    } as never,
  );
}

function response(request: Buffer, files: readonly FileDescriptorProto[]): Uint8Array {
  const reader = new BinaryReader(request);
  const [field] = reader.tag();
  const wanted = reader.string();
  const writer = new BinaryWriter();
  const services = files.flatMap((file) => file.service.map(({ name }) => `${file.package}.${name}`));
  if (field === FILE_BY_NAME || field === FILE_BY_SYMBOL) {
    const found = files.find((file) => {
      return field === FILE_BY_NAME
        ? file.name === wanted
        : wanted.startsWith(`${file.package}.`) && file.service.length > 0;
    });
    const bytes = toBinary(FileDescriptorProtoSchema, create(FileDescriptorProtoSchema, found));
    writer.tag(4, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).bytes(bytes).join();
  } else {
    const list = writer.tag(6, WireType.LengthDelimited).fork();
    for (const name of services)
      list.tag(1, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).string(name).join();
    list.join();
  }
  return writer.finish();
}
