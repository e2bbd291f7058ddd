import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { factsOf } from '@edge-gateway/core';
import { GraphQLError, parse } from 'graphql';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL, makeServer } from 'graphql-ws';
import { WebSocketServer, type WebSocket } from 'ws';
import type { ApiResult } from '../api.ts';
import type { Answerer } from '../answer.ts';
import type { Limits } from '../limits.ts';
import { isRefusal } from '../refusal.ts';

/** Takes over the upgrades of one API. */
export interface SocketServer {
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

/** Operations of one connection at a time. */
const MAX_OPERATIONS = 100;
const INIT_TIMEOUT_MS = 3000;

/** Serves operations over WebSocket by the protocol `graphql-transport-ws`; other protocols are refused. */
export function createSocketServer(answerer: Answerer, limits: Limits): SocketServer {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.maxBodyBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) ? GRAPHQL_TRANSPORT_WS_PROTOCOL : false),
  });
  return {
    upgrade: (req, socket, head) =>
      sockets.handleUpgrade(req, socket, head, (webSocket) => serve(webSocket, req, answerer)),
    close() {
      for (const client of sockets.clients) client.close(1001);
      sockets.close();
    },
  };
}

/** Has the library take the results of every operation as a stream; it reads no more of a document than its kind. */
const ANY = parse('subscription { any }');

type Operations = Map<string, AbortController>;

function serve(webSocket: WebSocket, req: IncomingMessage, answerer: Answerer): void {
  const operations: Operations = new Map();
  const server = makeServer({
    connectionInitWaitTimeout: INIT_TIMEOUT_MS,
    // What runs is decided here alone: the library only speaks the protocol.
    onSubscribe: async (_context, id, { query, operationName, variables, extensions }) => {
      if (operations.size >= MAX_OPERATIONS) return [new GraphQLError('Too many operations.')];
      const over = new AbortController();
      operations.set(id, over);
      const results = await answerer.subscribe({
        request: {
          query,
          ...(typeof operationName === 'string' && { operationName }),
          variables: variables ?? {},
          extensions: extensions ?? {},
        },
        wanted: { type: 'application/json', lenient: false },
        facts: factsOf(req),
        method: 'POST',
        signal: over.signal,
      });
      if (!isRefusal(results)) return { document: ANY, results } as never;
      operations.delete(id);
      return results.errors.map(({ message, extensions }) => new GraphQLError(message, { extensions }));
    },
    subscribe: (({ results }: { readonly results: AsyncIterable<ApiResult> }) => results) as never,
    onComplete: (_context, id) => {
      operations.get(id)?.abort();
      operations.delete(id);
    },
  });
  const closed = server.opened(
    {
      protocol: webSocket.protocol,
      send: (data) =>
        new Promise((resolve, reject) => webSocket.send(data, (error) => (error ? reject(error) : resolve()))),
      close: (code, reason) => webSocket.close(code, reason),
      onMessage: (listener) =>
        webSocket.on('message', (data) => {
          listener(String(data)).catch(() => webSocket.close(1011));
        }),
    },
    {},
  );
  webSocket.on('error', () => {});
  webSocket.once('close', (code, reason) => {
    for (const over of operations.values()) over.abort();
    void closed(code, String(reason));
  });
}
