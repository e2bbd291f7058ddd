import { once } from 'node:events';
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { SnapshotUpstream } from '@edge-gateway/core';
import type { ForwardHead } from '../../../src/forward/forward.ts';
import { gateway, snapshotOf, whenDone, type Gateway } from '../../forward/harness.ts';

export type StreamHandler = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]) => void;

/** An HTTP/2 server. */
export interface Http2Upstream {
  readonly port: number;
  readonly server: Http2Server;
  readonly sessions: Set<ServerHttp2Session>;
  /** Number of connections so far. */
  connections: number;
  /** Number of requests so far. */
  requests: number;
}

/** Starts an HTTP/2 server with prior knowledge. */
export async function http2Upstream(handler: StreamHandler, options: ServerOptions = {}): Promise<Http2Upstream> {
  const server = createServer(options);
  const upstream: Http2Upstream = { port: 0, server, sessions: new Set(), connections: 0, requests: 0 };
  server.on('session', (session) => {
    upstream.connections++;
    upstream.sessions.add(session);
    session.on('error', () => {}).on('close', () => upstream.sessions.delete(session));
  });
  server.on('stream', (stream, headers, _flags, raw) => {
    upstream.requests++;
    stream.on('error', () => {});
    handler(stream, headers, raw as unknown as string[]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  whenDone(() => {
    for (const session of upstream.sessions) session.destroy();
    server.close();
  });
  return Object.assign(upstream, { port: (server.address() as AddressInfo).port });
}

/** Starts a gateway whose upstream uses HTTP/2. */
export function http2Gateway(
  port: number,
  spec: SnapshotUpstream['spec'] = {},
  head: Partial<ForwardHead> = {},
): Promise<Gateway> {
  return gateway({ upstream: snapshotOf(port, { spec: { useHttp2: true, ...spec } }), head: () => head });
}

/** Reads everything that a stream receives. */
export async function bodyOf(stream: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}
