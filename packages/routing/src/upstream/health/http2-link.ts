import { connect, type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from 'node:http2';
import { protectHttp2Session } from '@edge-gateway/core';
import type { Connector } from '../connector.ts';

/** What the user of one exchange over HTTP/2 needs. */
export interface Http2Exchange {
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer;
  /** The request was sent; the response is read from the stream. */
  onStream(stream: ClientHttp2Stream): void;
  onFailure(error: Error): void;
}

/** Returns the headers of a request from a flat list, in which `host` is the authority. */
export function http2Headers(method: string, path: string, flat: readonly string[]): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = { ':method': method, ':path': path };
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i] === 'host' ? ':authority' : flat[i]!;
    const known = headers[name];
    headers[name] = known === undefined ? flat[i + 1]! : [known, flat[i + 1]!].flat();
  }
  return headers;
}

/** The only HTTP/2 connection of a probe. */
export class Http2Link {
  readonly #connect: Connector;
  readonly #tls: boolean;
  readonly #reuse: boolean;
  #session: ClientHttp2Session | undefined;
  #attempt = 0;

  constructor(connector: Connector, tls: boolean, reuse: boolean) {
    this.#connect = connector;
    this.#tls = tls;
    this.#reuse = reuse;
  }

  send(exchange: Http2Exchange): void {
    const attempt = ++this.#attempt;
    const session = this.#session;
    if (session && !session.closed && !session.destroyed) return this.#request(session, exchange);
    this.#connect((error, socket) => {
      if (attempt !== this.#attempt) return void socket?.destroy();
      if (!socket) return exchange.onFailure(error ?? new Error('no connection'));
      const url = `${this.#tls ? 'https' : 'http'}://health-check`;
      const opened = protectHttp2Session(connect(url, { createConnection: () => socket }));
      this.#session = opened;
      opened.on('goaway', () => this.#forget(opened));
      opened.on('close', () => this.#forget(opened));
      // Reported by the stream as well, if there is one.
      opened.on('error', (failure: Error) => {
        this.#forget(opened);
        if (attempt === this.#attempt) exchange.onFailure(failure);
      });
      this.#request(opened, exchange);
    });
  }

  /** The exchange is complete: the connection is kept for the next one, or closed. */
  release(): void {
    if (this.#reuse) this.#session?.unref();
    else this.close();
  }

  close(): void {
    this.#attempt++;
    const session = this.#session;
    this.#session = undefined;
    session?.destroy();
  }

  #request(session: ClientHttp2Session, { headers, body, onStream, onFailure }: Http2Exchange): void {
    session.ref();
    try {
      const stream = session.request({ ':scheme': this.#tls ? 'https' : 'http', ...headers }, { endStream: !body });
      stream.on('error', onFailure);
      stream.on('aborted', () => onFailure(new Error('the stream was reset')));
      onStream(stream);
      if (body) stream.end(body);
    } catch (error) {
      onFailure(error as Error);
    }
  }

  #forget(session: ClientHttp2Session): void {
    if (this.#session === session) this.#session = undefined;
  }
}
