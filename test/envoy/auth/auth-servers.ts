import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { loadPackageDefinition, Server, ServerCredentials, type ServiceClientConstructor } from '@grpc/grpc-js';
import { ROOT } from '../../docs/workspace.ts';

interface ProtoLoader {
  loadSync(file: string, options: object): Parameters<typeof loadPackageDefinition>[0];
}

/** The service as Envoy publishes it: nothing of ours is in it. */
function publishedService(): ServiceClientConstructor['service'] {
  const { loadSync } = createRequire(join(ROOT, 'packages/extauth/package.json'))('@grpc/proto-loader') as ProtoLoader;
  const definition = loadSync('envoy/service/auth/v3/external_auth.proto', {
    includeDirs: [join(ROOT, 'packages/xds/envoy-api')],
    longs: Number,
    enums: String,
    oneofs: true,
  });
  const loaded = loadPackageDefinition(definition) as unknown as {
    envoy: { service: { auth: { v3: { Authorization: ServiceClientConstructor } } } };
  };
  return loaded.envoy.service.auth.v3.Authorization.service;
}

/** What a server over gRPC says: a response, or an error of the call. */
export type GrpcReply = { readonly response: object } | { readonly code: number };

/** What a server over HTTP says. */
export interface HttpReply {
  readonly status: number;
  /** Flat. */
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
}

/** Auth servers that say what `grpc` and `http` hold, and keep what they are asked. */
export interface AuthServers {
  readonly grpcPort: number;
  readonly httpPort: number;
  grpc: GrpcReply;
  http: HttpReply;
  /** Attributes over gRPC. */
  readonly checks: Record<string, unknown>[];
  /** Requests over HTTP, headers flat as received. */
  readonly calls: HttpCall[];
  close(): Promise<void>;
}

/** A request to the server over HTTP. */
export interface HttpCall {
  readonly line: string;
  readonly headers: readonly string[];
  readonly body: string;
}

interface CheckCall {
  readonly request: { readonly attributes: Record<string, unknown> };
}

/** Starts an auth server over gRPC and one over HTTP on 127.0.0.1. */
export async function startAuthServers(): Promise<AuthServers> {
  const checks: AuthServers['checks'] = [];
  const calls: HttpCall[] = [];
  const grpc = new Server();
  const check = ({ request }: CheckCall, done: (error: object | null, response?: object) => void): void => {
    checks.push(request.attributes);
    const reply = servers.grpc;
    if ('code' in reply) done({ code: reply.code, details: 'as the test says' });
    else done(null, reply.response);
  };
  grpc.addService(publishedService(), { Check: check as never });
  const grpcPort = await new Promise<number>((resolve, reject) => {
    grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
  const http = createServer((req, res) => {
    void textOf(req).then((body) => {
      calls.push({ line: `${req.method} ${req.url}`, headers: req.rawHeaders, body });
      const { status, headers = [], body: text = '' } = servers.http;
      res.sendDate = false;
      res.writeHead(status, [...headers, 'content-length', String(Buffer.byteLength(text))]).end(text);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const servers: AuthServers = {
    grpcPort,
    httpPort: (http.address() as AddressInfo).port,
    grpc: { response: {} },
    http: { status: 200 },
    checks,
    calls,
    async close() {
      grpc.forceShutdown();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return servers;
}

async function textOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req.setEncoding('utf8')) text += chunk as string;
  return text;
}
