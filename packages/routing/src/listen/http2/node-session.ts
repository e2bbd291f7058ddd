import { performServerHandshake, type IncomingHttpHeaders, type ServerHttp2Session } from 'node:http2';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { protectHttp2Session } from '@edge-gateway/core';
import type { ListenLimits } from '../limits.ts';
import { ConnectionWindow } from './connection-window.ts';
import { readHead } from './http2-head.ts';
import { sessionOptions } from './http2-settings.ts';
import type { ServerSession, SessionObserver } from './server-session.ts';
import type { ServerStream } from './server-stream.ts';

/** `REFUSED_STREAM` of RFC 9113 7: the client may send the request again. */
const REFUSED = 0x7;
/** `ENHANCE_YOUR_CALM` of RFC 9113 7. */
const CALM_DOWN = 0xb;

/** A connection of `node:http2`. */
export class NodeSession implements ServerSession {
  readonly #session: ServerHttp2Session;
  readonly #observer: SessionObserver;
  readonly #window: ConnectionWindow;

  /** `webSockets` if clients may open them (RFC 8441). */
  constructor(socket: Socket, observer: SessionObserver, limits: ListenLimits, webSockets: boolean) {
    this.#observer = observer;
    const session = protectHttp2Session(performServerHandshake(socket, sessionOptions(limits, webSockets)));
    this.#session = session;
    this.#window = new ConnectionWindow(session, limits.initialConnectionWindowBytes);
    session.on('stream', this.#onStream);
    session.on('error', ignore);
  }

  get destroyed(): boolean {
    return this.#session.destroyed;
  }

  get closed(): boolean {
    return this.#session.closed;
  }

  /** GOAWAY names the last request that was received, so that clients send later ones again elsewhere (RFC 9113 6.8). */
  close(): void {
    this.#session.close();
    this.#observer.onLast();
  }

  reject(reason: string): void {
    if (this.#session.destroyed) return;
    this.#observer.onViolation(reason);
    this.#session.destroy(new Error(reason), CALM_DOWN);
  }

  hold(change: number): void {
    this.#window.hold(change);
  }

  readonly #onStream = (
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    _flags: number,
    raw: string[],
  ): void => {
    stream.on('error', ignore);
    if (stream.destroyed || stream.closed) return this.#observer.onResetStream();
    this.#observer.onConnected();
    // It arrived together with the last request that is served.
    if (this.#session.closed) return stream.close(REFUSED);
    let bytes = 0;
    for (const text of raw) bytes += text.length;
    this.#observer.onStream(stream as ServerStream, readHead(headers, raw), bytes);
  };
}

const ignore = (): void => {};
