import { connect, type ClientHttp2Session, type ClientHttp2Stream, type ClientSessionOptions } from 'node:http2';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { protectHttp2Session } from '@edge-gateway/core';
import type { ConnectionSettings } from '../cluster-settings.ts';
import type {
  ClientConnection,
  ClientStream,
  ConnectionObserver,
  RequestOptions,
  StreamObserver,
} from './client-connection.ts';
import { MAX_HEADER_LIST_BYTES } from './stream-head.ts';

/**
 * No limit here: headers are counted later. With a limit, Node can crash when it frees the session, because it keeps the headers of the
 * rejected list. Their size is bounded by the number of frames that nghttp2 accepts.
 */
const MAX_HEADER_PAIRS = 2 ** 31 - 1;
/** Malformed frames, each of which ends its stream, after which the connection is closed. */
const MAX_INVALID_FRAMES = 20;
/** Data of all streams of a connection that waits in memory, in MiB; flow control limits it further. */
const MAX_SESSION_MEMORY_MB = 512;
/** Node opens a connection with this window and changes it later. */
const INITIAL_CONNECTION_WINDOW = 65_535;

const WITH_BODY = { endStream: false };

interface OtherOptions {
  readonly strictSingleValueFields: boolean;
  readonly strictFieldWhitespaceValidation: boolean;
  readonly maxSessionInvalidFrames: number;
}

/** A connection of `node:http2`. */
export class NodeConnection implements ClientConnection {
  readonly isExhausted = false;
  readonly #session: ClientHttp2Session;
  readonly #onPong: (error: Error | null) => void;

  /** Starts HTTP/2 on an open connection. */
  constructor(socket: Socket, scheme: 'http' | 'https', settings: ConnectionSettings, observer: ConnectionObserver) {
    const session = (this.#session = createClientSession(socket, scheme, settings));
    let error: Error | undefined;
    session.on('error', (reason: Error) => (error = reason));
    session.on('remoteSettings', ({ maxConcurrentStreams, enableConnectProtocol }) =>
      observer.onSettings(maxConcurrentStreams, enableConnectProtocol === true),
    );
    session.on('goaway', (code, lastId) => observer.onGoaway(code, lastId));
    session.on('close', () => observer.onClose(error));
    this.#onPong = (reason) => reason ?? observer.onPong();
  }

  get destroyed(): boolean {
    return this.#session.destroyed;
  }

  ref(): void {
    this.#session.ref();
  }

  unref(): void {
    this.#session.unref();
  }

  request(observer: StreamObserver, headers: readonly string[], options: RequestOptions): ClientStream {
    const stream = this.#session.request(headers as string[], options);
    stream.close = reset;
    observe(stream, observer);
    return stream;
  }

  openTunnel(headers: readonly string[]): ClientHttp2Stream {
    return this.#session.request(headers as string[], WITH_BODY);
  }

  ping(): void {
    if (!this.#session.destroyed) this.#session.ping(this.#onPong);
  }

  close(): void {
    this.#session.close();
  }

  destroy(error?: Error): void {
    this.#session.destroy(error);
  }
}

function createClientSession(
  socket: Socket,
  scheme: 'http' | 'https',
  { http2 }: ConnectionSettings,
): ClientHttp2Session {
  const options: ClientSessionOptions & OtherOptions = {
    createConnection: () => socket,
    maxHeaderListPairs: MAX_HEADER_PAIRS,
    maxSessionInvalidFrames: MAX_INVALID_FRAMES,
    maxSessionMemory: MAX_SESSION_MEMORY_MB,
    maxReservedRemoteStreams: 0,
    maxOriginSetSize: 0,
    // Headers that clients repeat are forwarded as they are, as over HTTP/1.1.
    strictSingleValueFields: false,
    // Spaces around a value are removed, as over HTTP/1.1.
    strictFieldWhitespaceValidation: false,
    settings: {
      enablePush: false,
      initialWindowSize: http2.streamWindow,
      maxHeaderListSize: MAX_HEADER_LIST_BYTES,
    },
  };
  const session = protectHttp2Session(connect(`${scheme}://upstream`, options));
  if (http2.connectionWindow > INITIAL_CONNECTION_WINDOW) session.setLocalWindowSize(http2.connectionWindow);
  return session;
}

/** Resets a stream. Node ends it first, so that the upstream would mistake a partial upload for a complete one. */
function reset(this: ClientHttp2Stream, code?: number): void {
  if (!this.writableEnded) this.end = ignoreEnd;
  (Object.getPrototypeOf(this) as ClientHttp2Stream).close.call(this, code);
}

function ignoreEnd(this: ClientHttp2Stream): ClientHttp2Stream {
  return this;
}

const OBSERVER = Symbol('edge-gateway.observer');
type ObservedStream = ClientHttp2Stream & { [OBSERVER]: StreamObserver };

/**
 * Passes what a stream receives to its observer. The body does not wait in the buffer of the stream, and only so is it known whether
 * the peer ended the stream or reset it: Node ends a stream that was reset with `NO_ERROR` like a complete one.
 */
function observe(stream: ClientHttp2Stream, observer: StreamObserver): void {
  (stream as ObservedStream)[OBSERVER] = observer;
  stream.push = receive;
  stream.on('response', onResponse).on('headers', onHeaders).on('trailers', onTrailers);
  stream.on('end', onEnd).on('error', onError).on('close', onClose);
  stream.resume();
}

function receive(this: ClientHttp2Stream, chunk: unknown): boolean {
  const observer = (this as ObservedStream)[OBSERVER];
  if (chunk !== null) return observer.onData(chunk as Buffer);
  observer.onLast(!this.closed);
  // After a reset with `NO_ERROR`, Node waits for what is still written to the stream, although that is never sent.
  if (this.closed) process.nextTick(destroyStream, this);
  return Readable.prototype.push.call(this, null);
}

const destroyStream = (stream: ClientHttp2Stream): void => void stream.destroy();

function onResponse(this: ClientHttp2Stream, _headers: unknown, flags: number, raw?: readonly string[]): void {
  (this as ObservedStream)[OBSERVER].onHead(raw ?? [], flags);
}

function onHeaders(this: ClientHttp2Stream, _headers: unknown, _flags: number, raw?: readonly string[]): void {
  (this as ObservedStream)[OBSERVER].onInterim(raw ?? []);
}

function onTrailers(this: ClientHttp2Stream, _headers: unknown, _flags: number, raw?: readonly string[]): void {
  (this as ObservedStream)[OBSERVER].onTrailers(raw ?? []);
}

function onEnd(this: ClientHttp2Stream): void {
  (this as ObservedStream)[OBSERVER].onEnd();
}

function onError(this: ClientHttp2Stream, error: Error): void {
  (this as ObservedStream)[OBSERVER].onError(error);
}

function onClose(this: ClientHttp2Stream): void {
  (this as ObservedStream)[OBSERVER].onClose();
}
