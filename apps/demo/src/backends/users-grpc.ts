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

/** Where the service listens. */
interface UsersGrpcOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Default: any free one. */
  readonly port?: number;
  /** Default: plain text, no TLS. */
  readonly credentials?: ServerCredentials;
}

/** The gRPC user service: `user.UserService/GetUser` by `username`, with server reflection. */
export async function startUsersGrpc(options: UsersGrpcOptions = {}): Promise<Service> {
  const definition = fromJSON(PROTO as never, { keepCase: false, defaults: true });
  const server = new Server();
  server.addService(userService(loadPackageDefinition(definition)).service, { GetUser: getUser });
  new ReflectionService(definition as never).addToServer(server as never);
  const host = options.host ?? '127.0.0.1';
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(
      `${host}:${options.port ?? 0}`,
      options.credentials ?? ServerCredentials.createInsecure(),
      (error, bound) => {
        if (error) reject(withPort(error, options.port));
        else resolve(bound);
      },
    );
  });
  return { name: 'users-grpc', host, port, close: async () => server.forceShutdown() };
}

/** grpc-js reports a port in use only in its message. */
function withPort(error: Error, port: number | undefined): Error {
  return error.message.includes('EADDRINUSE') ? Object.assign(error, { code: 'EADDRINUSE', port }) : error;
}

function userService(loaded: GrpcObject): ServiceClientConstructor {
  return (loaded['user'] as GrpcObject)['UserService'] as ServiceClientConstructor;
}

function getUser(call: ServerUnaryCall<{ username: string }, User>, callback: sendUnaryData<User>): void {
  const user = USERS.find(({ username }) => username === call.request.username);
  if (user) callback(null, user);
  else callback({ code: status.NOT_FOUND, details: 'no such user' });
}
