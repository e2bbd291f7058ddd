import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  status,
  type GrpcObject,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServiceClientConstructor,
} from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import type { Service } from './http-service.ts';

/** `user.UserService` with its messages, as protobuf.js writes them. */
const PROTO = {
  nested: {
    user: {
      options: { syntax: 'proto3' },
      nested: {
        UserSearch: { fields: { username: { type: 'string', id: 1 } } },
        User: {
          fields: {
            username: { type: 'string', id: 1 },
            full_name: { type: 'string', id: 2 },
            user_id: { type: 'int32', id: 3 },
          },
        },
        UserService: { methods: { GetUser: { requestType: 'UserSearch', responseType: 'User' } } },
      },
    },
  },
} as const;

interface User {
  readonly username: string;
  readonly full_name: string;
  readonly user_id: number;
}

const USERS: readonly User[] = [
  { username: 'gandalf', full_name: 'Gandalf the Grey', user_id: 1 },
  { username: 'frodo', full_name: 'Frodo Baggins', user_id: 2 },
  { username: 'sam', full_name: 'Samwise Gamgee', user_id: 3 },
];

/** The gRPC user service: `user.UserService/GetUser` by `username`, with server reflection. Plain text, no TLS. */
export async function startUsersGrpc(address: { host?: string; port?: number } = {}): Promise<Service> {
  const definition = fromJSON(PROTO as never, { keepCase: false, defaults: true });
  const server = new Server();
  server.addService(userService(loadPackageDefinition(definition)).service, { GetUser: getUser });
  new ReflectionService(definition as never).addToServer(server as never);
  const host = address.host ?? '127.0.0.1';
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${address.port ?? 0}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(bound);
    });
  });
  return { name: 'users-grpc', host, port, close: async () => server.forceShutdown() };
}

function userService(loaded: GrpcObject): ServiceClientConstructor {
  return (loaded['user'] as GrpcObject)['UserService'] as ServiceClientConstructor;
}

function getUser(call: ServerUnaryCall<{ username: string }, User>, callback: sendUnaryData<User>): void {
  const user = USERS.find(({ username }) => username === call.request.username);
  if (user) callback(null, user);
  else callback({ code: status.NOT_FOUND, details: 'no such user' });
}
