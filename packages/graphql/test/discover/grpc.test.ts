import { create, toBinary } from '@bufbuild/protobuf';
import { FieldDescriptorProto_Label, FieldDescriptorProto_Type, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { credentials } from '@grpc/grpc-js';
import { startUsersGrpc } from '@edge-gateway/demo';
import { expect } from 'chai';
import { discover } from '../../src/discover/discover.ts';
import { reflect } from '../../src/resolvers/grpc/reflection.ts';

const upstream = { name: 'users', namespace: 'gw-system' };

describe('discovery of a gRPC service', () => {
  it('creates a field for each method of the reflection', async () => {
    const service = await startUsersGrpc();
    try {
      const reflected = await reflect(`127.0.0.1:${service.port}`, {
        credentials: credentials.createInsecure(),
        timeoutMs: 5000,
      });
      expect(reflected.services).to.deep.equal(['user.UserService']);
      const { spec, skipped } = discover(upstream, { type: 'grpc', ...reflected });
      expect(skipped).to.deep.equal([]);
      const { schemaDefinition, executor, grpcDescriptorRegistry } = spec.executableSchema!;
      expect(schemaDefinition).to.equal(
        [
          'input UserSearchInput {\n  username: String\n}\n',
          'type User {\n  username: String\n  fullName: String\n  userId: Int\n}\n',
          'type Query {\n  GetUser(user_search: UserSearchInput): User @resolve(name: "Query|GetUser")\n}\n',
        ].join('\n'),
      );
      expect(executor!.local!.resolutions).to.deep.equal({
        'Query|GetUser': {
          grpcResolver: {
            upstreamRef: upstream,
            requestTransform: {
              outgoingMessageJson: '{$args.user_search}',
              serviceName: 'user.UserService',
              methodName: 'GetUser',
            },
          },
        },
      });
      expect(grpcDescriptorRegistry!.protoDescriptorBin).to.be.a('string');
    } finally {
      await service.close();
    }
  });

  it('converts enums, maps, lists and well-known types, and skips streaming methods', () => {
    const { STRING, INT64, ENUM, MESSAGE } = FieldDescriptorProto_Type;
    const { OPTIONAL, REPEATED } = FieldDescriptorProto_Label;
    const method = { inputType: '.a.Query', outputType: '.a.Page' };
    const file = {
      name: 'a.proto',
      package: 'a',
      syntax: 'proto3',
      dependency: ['google/protobuf/timestamp.proto'],
      enumType: [{ name: 'Kind', value: ['NOVEL', 'POEM', 'true'].map((name, number) => ({ name, number })) }],
      messageType: [
        { name: 'Query', field: [{ name: 'page_size', number: 1, type: INT64, label: OPTIONAL }] },
        {
          name: 'Page',
          nestedType: [
            {
              name: 'CountsEntry',
              options: { mapEntry: true },
              field: [
                { name: 'key', number: 1, type: STRING, label: OPTIONAL },
                { name: 'value', number: 2, type: INT64, label: OPTIONAL },
              ],
            },
          ],
          field: [
            { name: 'counts', number: 1, type: MESSAGE, label: REPEATED, typeName: '.a.Page.CountsEntry' },
            { name: 'kinds', number: 2, type: ENUM, label: REPEATED, typeName: '.a.Kind' },
            { name: 'next', number: 3, type: MESSAGE, label: OPTIONAL, typeName: '.a.Page' },
            { name: 'at', number: 4, type: MESSAGE, label: OPTIONAL, typeName: '.google.protobuf.Timestamp' },
          ],
        },
      ],
      service: [
        {
          name: 'Books',
          method: [
            { name: 'ListBooks', ...method },
            { name: 'Add', ...method },
            { name: 'Watch', ...method, serverStreaming: true },
          ],
        },
      ],
    };
    const set = create(FileDescriptorSetSchema, { file: [file] });
    const probe = { descriptorSet: toBinary(FileDescriptorSetSchema, set), services: ['a.Books', 'a.Gone'] };
    const { spec, skipped } = discover(upstream, { type: 'grpc', ...probe });
    expect(spec.executableSchema!.schemaDefinition).to.equal(
      [
        'input QueryInput {\n  pageSize: String\n}\n',
        'enum Kind {\n  NOVEL\n  POEM\n}\n',
        'type Page {\n  counts: JSON\n  kinds: [Kind]\n  next: Page\n  at: JSON\n}\n',
        'type Query {\n  ListBooks(query: QueryInput): Page @resolve(name: "Query|ListBooks")\n}\n',
        'type Mutation {\n  Add(query: QueryInput): Page @resolve(name: "Mutation|Add")\n}\n',
        'scalar JSON\n',
      ].join('\n'),
    );
    expect(skipped).to.deep.equal([
      { where: 'a.Books/Watch', reason: 'streaming is not supported' },
      { where: 'a.Gone', reason: 'the descriptors do not contain it' },
    ]);
  });

  it('rejects invalid descriptors', () => {
    const probe = { type: 'grpc', descriptorSet: Buffer.from('not a descriptor'), services: ['a.B'] } as const;
    expect(() => discover(upstream, probe))
      .to.throw()
      .with.property('code', 'ERR_GRAPHQL_DISCOVERY');
  });

  it('rejects if there is no server', async () => {
    const service = await startUsersGrpc();
    await service.close();
    const options = { credentials: credentials.createInsecure(), timeoutMs: 2000 };
    const failed = await reflect(`127.0.0.1:${service.port}`, options).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(failed).to.be.an('error');
  });
});
