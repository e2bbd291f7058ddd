import { Server, ServerCredentials, type handleUnaryCall } from '@grpc/grpc-js';
import type { Context, SnapshotUpstream } from '@edge-gateway/core';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { serveApi } from '../../../src/action.ts';
import { serve, type TestServer } from '../../servers.ts';

const ROOT = protobuf.Root.fromJSON({
  nested: {
    user: {
      options: { syntax: 'proto3' },
      nested: {
        UserSearch: { fields: { username: { type: 'string', id: 1 } } },
        User: { fields: { username: { type: 'string', id: 1 } } },
        UserService: { methods: { GetUser: { requestType: 'UserSearch', responseType: 'User', comment: '' } } },
      },
    },
  },
});
const SEARCH = ROOT.lookupType('user.UserSearch');
const USER = ROOT.lookupType('user.User');

function descriptors(): string {
  const set = (ROOT as unknown as { toDescriptor(syntax: string): protobuf.Message }).toDescriptor('proto3');
  return Buffer.from(descriptor.FileDescriptorSet.encode(set).finish()).toString('base64');
}

/** The descriptors of the service, as a resource has them. */
export const DESCRIPTORS = descriptors();

export interface Named {
  readonly username: string;
}

/** A server of `user.UserService/GetUser` whose answers a function makes. */
export interface GrpcServer {
  readonly port: number;
  /** Names it was asked for, in order. */
  readonly asked: string[];
  close(): void;
}

export interface GrpcServerOptions {
  readonly credentials?: ServerCredentials;
  readonly port?: number;
}

export async function startGrpc(
  answer: handleUnaryCall<Named, Named>,
  { credentials = ServerCredentials.createInsecure(), port = 0 }: GrpcServerOptions = {},
): Promise<GrpcServer> {
  const server = new Server({ 'grpc.max_send_message_length': -1 });
  const asked: string[] = [];
  const method = {
    path: '/user.UserService/GetUser',
    requestStream: false,
    responseStream: false,
    requestSerialize: (value: Named) => Buffer.from(SEARCH.encode(value).finish()),
    requestDeserialize: (bytes: Buffer) => SEARCH.decode(bytes) as unknown as Named,
    responseSerialize: (value: Named) => Buffer.from(USER.encode(value).finish()),
    responseDeserialize: (bytes: Buffer) => USER.decode(bytes) as unknown as Named,
  } as const;
  server.addService({ GetUser: method }, {
    GetUser: (call: Parameters<typeof answer>[0], callback: Parameters<typeof answer>[1]) => {
      asked.push(call.request.username);
      answer(call, callback);
    },
  } as never);
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, own) => (error ? reject(error) : resolve(own)));
  });
  return { port: bound, asked, close: () => server.forceShutdown() };
}

export interface GrpcApiOptions {
  /** The upstream as it is now. */
  readonly upstream: () => SnapshotUpstream;
  readonly context: Context;
  /** The server is asked for its descriptors. */
  readonly reflection?: true;
  readonly resolver?: object;
  readonly limits?: object;
  readonly retries?: object;
}

const SCHEMA = `
  type Query { user(name: String = "sam"): User @resolve(name: "user") good: User @resolve(name: "good") }
  type Mutation { change(name: String!): User @resolve(name: "user") }
  type User { username: String }
`;

/** A gateway's API whose fields `user` and `change` call the service. */
export async function grpcApi({
  upstream,
  context,
  reflection,
  resolver,
  limits,
  retries,
}: GrpcApiOptions): Promise<TestServer> {
  const requestTransform = {
    serviceName: 'user.UserService',
    methodName: 'GetUser',
    outgoingMessageJson: { username: '{$args.name}' },
  };
  const upstreamRef = { name: 'users' };
  const resolutions = {
    user: { grpcResolver: { upstreamRef, requestTransform, timeout: '10s', ...resolver } },
    good: { mockResolver: { syncResponse: { username: 'good' } } },
  };
  const executableSchema = {
    schemaDefinition: SCHEMA,
    executor: { local: { resolutions } },
    ...(!reflection && { grpcDescriptorRegistry: { protoDescriptorBin: DESCRIPTORS } }),
  };
  const ref = { name: 'api', namespace: 'gw-system' };
  const api = { ref, spec: { executableSchema, options: { limits } }, subschemas: [], descriptorSets: [] };
  const { responder } = serveApi(api as never, context, { findUpstream: upstream });
  const front = await serve((req, res) =>
    responder(
      { req, res, writeHead: (status, headers) => void res.writeHead(status, [...headers]), retries: retries as never },
      (error) => res.writeHead(500).end(String(error)),
    ),
  );
  front.server.once('close', () => void responder.close?.());
  return front;
}

/** An upstream at these ports of this machine. */
export function usersUpstream(ports: readonly number[], parts: Partial<SnapshotUpstream> = {}): SnapshotUpstream {
  const endpoints = ports.map((port) => ({ address: '127.0.0.1', port, weight: 1 }));
  return {
    name: 'users_gw-system',
    ref: { name: 'users', namespace: 'gw-system' },
    spec: {},
    endpoints,
    tls: false,
    ...parts,
  } as SnapshotUpstream;
}
