import { credentials } from '@grpc/grpc-js';
import { startUsersGrpc } from '@edge-gateway/demo';
import { expect } from 'chai';
import { discover } from '../../src/discover/discover.ts';
import { reflect } from '../../src/discover/grpc-reflection.ts';

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
