import { startUsersGrpc } from '@edge-gateway/demo';
import { expect } from 'chai';
import { createContext, createMetrics } from '@edge-gateway/core';
import { graphqlApi } from '../../../src/middleware.ts';
import { ask, serveHandler, type TestServer } from '../../servers.ts';

const SCHEMA = `
  type Query { user(name: String!): User @resolve(name: "user") broken: User @resolve(name: "broken") }
  type User { username: String fullName: String full_name: String userId: Int }
`;

describe('a gRPC resolver', () => {
  let users: Awaited<ReturnType<typeof startUsersGrpc>>;
  let front: TestServer;
  const metrics = createMetrics();

  before(async () => {
    users = await startUsersGrpc();
    const requestTransform = {
      serviceName: 'user.UserService',
      methodName: 'GetUser',
      outgoingMessageJson: { username: '{$args.name}' },
      requestMetadata: { 'x-who': '{$headers.x-who}' },
    };
    const upstreamRef = { name: 'users' };
    const handler = graphqlApi(
      {
        schemaDefinition: SCHEMA,
        resolutions: {
          user: { grpcResolver: { upstreamRef, requestTransform } },
          broken: { grpcResolver: { upstreamRef, requestTransform: { ...requestTransform, methodName: 'Nothing' } } },
        },
        upstreams: { users: `http://127.0.0.1:${users.port}` },
      },
      createContext({ metrics }),
    );
    front = await serveHandler(handler);
    front.server.once('close', () => void handler.close?.());
  });
  after(async () => {
    await front.close();
    await users.close();
  });

  it('calls a service whose messages are known by reflection, and names fields both ways', async () => {
    const { body } = await ask(front.url, '{ user(name: "gandalf") { username fullName full_name userId } }');
    expect(body).to.deep.equal({
      data: { user: { username: 'gandalf', fullName: 'Gandalf the Grey', full_name: 'Gandalf the Grey', userId: 1 } },
    });
  });

  it('returns an error of the field without the message of the service', async () => {
    const { status, body } = await ask(front.url, '{ user(name: "sauron") { username } }');
    expect(status).to.equal(200);
    expect(body.data).to.deep.equal({ user: null });
    expect(body.errors[0].path).to.deep.equal(['user']);
    expect(body.errors[0].message).to.equal('A field could not be resolved.');
    expect(body.errors[0].extensions.requestId).to.match(/^[0-9a-f-]{36}$/);
  });

  it('returns an error of the field for an unknown method', async () => {
    const { body } = await ask(front.url, '{ broken { username } }');
    expect(body.data).to.deep.equal({ broken: null });
    expect(body.errors).to.have.length(1);
  });

  it('calls once for equal fields', async () => {
    const total = () =>
      metrics.list().find(({ name }) => name.path === 'graphql.graphql.user.rest_resolver.total_resolutions')!.stat;
    const before = (total() as { value: number }).value;
    const { body } = await ask(front.url, '{ a: user(name: "sam") { userId } b: user(name: "sam") { userId } }');
    expect(body.data).to.deep.equal({ a: { userId: 3 }, b: { userId: 3 } });
    expect((total() as { value: number }).value - before).to.equal(2);
  });
});
