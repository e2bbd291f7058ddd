import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { loadPackageDefinition, Server as GrpcServer, ServerCredentials, type ServerUnaryCall } from '@grpc/grpc-js';
import { protoLoader } from '../../packages/core/src/grpc/library.ts';

/** Who responds, as the responses of the suite's own echo server say. */
export interface EchoIdentity {
  readonly namespace: string;
  readonly pod: string;
  readonly service: string;
  readonly ingress: string;
}

/** The servers of one pod. */
export interface EchoServer {
  /** The log of the pod. */
  readonly log: readonly string[];
  close(): Promise<void>;
}

const HTTP_PORT = 3000;
const HTTP2_PORT = 3001;

/** Starts what the HTTP pods of the suite run: a server that responds with the request. */
export async function startHttpEcho(address: string, identity: EchoIdentity): Promise<EchoServer> {
  const log: string[] = [];
  const respond = (req: IncomingMessage, res: ServerResponse): void => void respondWith(req, res, { identity, log });
  const plain = createServer(respond).listen(HTTP_PORT, address);
  const http2 = createHttp2Server({}, respond as never).listen(HTTP2_PORT, address);
  await Promise.all([once(plain, 'listening'), once(http2, 'listening')]);
  return {
    log,
    async close() {
      plain.closeAllConnections();
      await Promise.all([closed(plain), closed(http2)]);
    },
  };
}

const closed = (server: Server | Http2Server): Promise<void> =>
  promisify(server.close.bind(server))().catch(() => undefined) as Promise<void>;

interface EchoContext {
  readonly identity: EchoIdentity;
  readonly log: string[];
}

async function respondWith(req: IncomingMessage, res: ServerResponse, { identity, log }: EchoContext): Promise<void> {
  const { url = '/', method, httpVersion, rawHeaders } = req;
  const { pathname, searchParams } = new URL(url, 'http://echo');
  const delay = searchParams.get('delay');
  if (delay) await wait(Number.parseFloat(delay) * (delay.endsWith('ms') ? 1 : 1_000));
  const headers = canonicalHeaders(rawHeaders);
  const { Host: [host] = [req.headers[':authority']], ...others } = headers;
  for (const [name, values] of headersToSet(req.headers)) res.setHeader(name, values.join(','));
  const status = /^\/status\/(\d{3})$/.exec(pathname)?.[1];
  if (status) {
    res.writeHead(Number(status)).end();
    return;
  }
  log.push(`Echoing back request made to ${url} to client (${req.socket.remoteAddress}:${req.socket.remotePort})`);
  res.setHeader('content-type', 'application/json');
  res.end(JSON.stringify({ path: url, host, method, proto: `HTTP/${httpVersion}`, headers: others, ...identity }));
}

/** Headers as Go shows them. */
function canonicalHeaders(raw: readonly string[]): Record<string, string[]> {
  const headers: Record<string, string[]> = {};
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]!.startsWith(':')) continue;
    const name = raw[i]!.toLowerCase().replace(/(^|-)([a-z])/g, (part) => part.toUpperCase());
    (headers[name] ??= []).push(raw[i + 1]!);
  }
  return headers;
}

/** Requests name headers of the response in `x-echo-set-header`. */
function headersToSet(headers: IncomingHttpHeaders): Map<string, string[]> {
  const pairs = String(headers['x-echo-set-header'] ?? '')
    .split(',')
    .flatMap((pair) => {
      const [name = '', ...value] = pair.split(':');
      return name.trim() ? [[name.trim(), value.join(':').trim()] as const] : [];
    });
  return new Map([...Map.groupBy(pairs, ([name]) => name)].map(([name, all]) => [name, all.map(([, value]) => value)]));
}

/** Starts what the gRPC pods of the suite run. `proto` is its definition. */
export async function startGrpcEcho(address: string, identity: EchoIdentity, proto: string): Promise<EchoServer> {
  const definition = loadPackageDefinition(protoLoader().loadSync(proto)) as any;
  const { service } = definition.gateway_api_conformance.echo_basic.grpcecho.GrpcEcho;
  const { service: serviceName, ...context } = identity;
  const echo = (call: ServerUnaryCall<unknown, unknown>, respond: (error: null, value: object) => void): void => {
    const headers = Object.entries(call.metadata.getMap()).map(([key, value]) => ({ key, value: String(value) }));
    const assertions = {
      fullyQualifiedMethod: call.getPath(),
      headers,
      authority: call.getHost(),
      context: { ...context, serviceName },
    };
    respond(null, { assertions, request: {} });
  };
  const server = new GrpcServer();
  // The third method is not implemented on purpose.
  server.addService(service, { Echo: echo, EchoTwo: echo });
  await promisify(server.bindAsync.bind(server))(`${address}:${HTTP_PORT}`, ServerCredentials.createInsecure());
  return { log: [], close: async () => server.forceShutdown() };
}
