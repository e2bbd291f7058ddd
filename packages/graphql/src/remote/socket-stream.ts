import type { Socket } from 'node:net';
import { parseJson, startTimer, type UpstreamConnection } from '@edge-gateway/core';
import { createClient, GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { FieldFailure } from '../errors/field-failure.ts';
import { isRecord, isTextDeeper, MAX_RESULT_DEPTH } from '../document/json.ts';
import type { Limits } from '../document/limits.ts';
import { keepAlive } from '../serve/keep-alive.ts';
import { readResult, resultOf } from './remote-answer.ts';
import { payloadOf, type RemoteHead } from './remote-request.ts';
import { TransportRejected, type Stream, type StreamServer, type SubscribeAt } from './stream.ts';

/** Maximum time for a server to acknowledge the closing of the connection, in milliseconds; missing in the types. */
const CLOSING = { closeTimeout: 500 };

/** Subscribes by `graphql-transport-ws`, each over its own connection, without a payload in `connection_init`. */
export function subscribeBySocket(server: StreamServer): SubscribeAt {
  const { upstream, limits, targetOf } = server;
  const connect = server.callUpstream.connect!;
  return async (stream) => {
    const target = targetOf(stream.request);
    const connection = await connect(upstream).catch((error: unknown) => {
      throw new TransportRejected(`no connection: ${(error as Error).message}`);
    });
    if (stream.signal.aborted) return void connection.socket.destroy();
    await converse(stream, openSocket(connection, target, limits.maxResponseBytes), limits);
  };
}

function openSocket({ socket, host, basePath }: UpstreamConnection, target: RemoteHead, maxBytes: number): WebSocket {
  try {
    return new WebSocket(`ws://${host}${basePath}${target.path}`, GRAPHQL_TRANSPORT_WS_PROTOCOL, {
      createConnection: () => socket as Socket,
      headers: headersOf(target.headers, host),
      maxPayload: maxBytes,
      perMessageDeflate: false,
      ...CLOSING,
    });
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function converse(stream: Stream, webSocket: WebSocket, limits: Limits): Promise<void> {
  const state = { opened: false, late: false, deep: false, bytes: 0, payload: undefined as unknown };
  webSocket.once('open', () => keepAlive(webSocket, limits.pingIntervalMs));
  webSocket.on('message', (data: Buffer) => {
    state.bytes = data.length;
    const text = String(data);
    state.deep = isTextDeeper(text, MAX_RESULT_DEPTH);
    state.payload = state.deep ? undefined : payloadIn(text);
  });
  const timer = startTimer(() => {
    state.late = true;
    webSocket.terminate();
  }, limits.operationTimeoutMs);
  const acknowledged = (): void => {
    clearTimeout(timer);
    stream.accepted();
  };
  const client = createClient({
    url: webSocket.url,
    webSocketImpl: implementationOf(webSocket),
    retryAttempts: 0,
    on: { opened: () => (state.opened = true), connected: acknowledged },
  });
  return new Promise<void>((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      stream.signal.removeEventListener('abort', leave);
      webSocket.close(1000);
      settle();
    };
    const stop = client.subscribe(payloadOf(stream.request), {
      next() {
        if (state.deep) throw new FieldFailure('a message is nested too deep');
        stream.push(readResult(state.payload), state.bytes);
      },
      complete: () => end(resolve),
      error(error) {
        if (!Array.isArray(error)) return end(() => reject(failureOf(error, state)));
        stream.push(resultOf({ errors: error }), state.bytes);
        end(resolve);
      },
    });
    const leave = (): void => {
      stop();
      end(resolve);
    };
    stream.signal.addEventListener('abort', leave, { once: true });
    // The library reconnects after a normal closure by the server.
    webSocket.once('close', (code) => setImmediate(end, () => reject(failureOf({ code }, state))));
  });
}

/** Returns the payload of a message with all digits of its numbers, which the library drops. */
function payloadIn(text: string): unknown {
  try {
    const message = parseJson(text);
    return isRecord(message) ? message['payload'] : undefined;
  } catch {
    return undefined;
  }
}

/** The library creates its WebSocket itself, so it gets the existing one. A constructor that throws would be an unhandled rejection. */
function implementationOf(webSocket: WebSocket): unknown {
  const { CONNECTING, OPEN, CLOSING, CLOSED } = WebSocket;
  const make = function upstreamSocket(): WebSocket {
    return webSocket;
  };
  return Object.assign(make, { CONNECTING, OPEN, CLOSING, CLOSED });
}

/** Returns the reason of a failure without the server's message. */
function failureOf(error: unknown, { opened, late }: { readonly opened: boolean; readonly late: boolean }): Error {
  if (error instanceof FieldFailure) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (!opened)
    return new TransportRejected(late ? 'no response to the upgrade in time' : `no WebSocket: ${String(message)}`);
  if (late) return new FieldFailure('no connection_ack in time');
  return new FieldFailure(typeof code === 'number' ? `the WebSocket was closed with ${code}` : 'it sent no message');
}

function headersOf(flat: readonly string[], host: string): Record<string, string> {
  const headers: Record<string, string> = { host };
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    if (!name.startsWith('sec-websocket-')) headers[name] = flat[i + 1]!;
  }
  return headers;
}
