import { once } from 'node:events';
import { connect, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import type { SecureClientSessionOptions } from 'node:http2';

export interface Http2Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly trailers: IncomingHttpHeaders | undefined;
  /** Statuses of interim responses. */
  readonly interim: readonly number[];
  /** The body as JSON, if it is. */
  readonly json: { code?: string; requestId?: string };
}

export interface Http2Asked {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
  readonly trailers?: Record<string, string>;
}

/** A client connection that speaks HTTP/2. */
export interface Http2Client {
  readonly session: ClientHttp2Session;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  /** Sends a request and waits for the response; rejects if the stream is reset. */
  ask(path: string, asked?: Http2Asked): Promise<Http2Answer>;
  /** Opens a stream whose body is not ended. */
  open(path: string, headers?: Record<string, string | string[]>): ClientHttp2Stream;
  close(): void;
}

/** Opens a connection with prior knowledge, or over TLS with `tls`. */
export async function http2Client(
  port: number,
  options: SecureClientSessionOptions & { readonly tls?: boolean } = {},
): Promise<Http2Client> {
  const { tls = false, ...rest } = options;
  const origin = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  const session = connect(origin, { rejectUnauthorized: false, ...rest });
  session.on('error', () => {});
  const closed = new Promise<void>((resolve) => session.once('close', () => resolve()));
  await once(session, 'connect');
  const open: Http2Client['open'] = (path, headers = {}) => {
    const stream = session.request({ ':path': path, ':authority': 'a', ...headers }, { endStream: false });
    stream.on('error', () => {});
    return stream;
  };
  return {
    session,
    closed,
    open,
    async ask(path, { method = 'GET', headers, body, trailers } = {}) {
      const stream = session.request(
        { ':path': path, ':method': method, ':authority': 'a', ...headers },
        { endStream: body === undefined, waitForTrailers: trailers !== undefined },
      );
      if (trailers) stream.once('wantTrailers', () => stream.sendTrailers(trailers));
      if (body !== undefined) stream.end(body);
      return answerOf(stream);
    },
    close: () => session.destroy(),
  };
}

/** Resolves with the response of a stream; rejects if it is reset. */
export async function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  const interim: number[] = [];
  let headers: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders | undefined;
  let body = '';
  let ended = false;
  stream.on('headers', (head: IncomingHttpHeaders) => interim.push(Number(head[':status'])));
  stream.on('response', (head) => (headers = head));
  stream.on('trailers', (fields) => (trailers = fields));
  stream.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
  stream.on('end', () => (ended = true));
  await new Promise<void>((resolve, reject) => {
    stream.once('error', reject).once('close', () => {
      if (ended && !stream.aborted && headers[':status'] !== undefined) resolve();
      else reject(new Error(`stream closed with ${stream.rstCode}`));
    });
  });
  let json: Http2Answer['json'] = {};
  try {
    json = JSON.parse(body) as Http2Answer['json'];
  } catch {
    json = {};
  }
  return { status: Number(headers[':status']), headers, body, trailers, interim, json };
}
