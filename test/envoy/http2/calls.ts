import type { Field } from '../../../packages/routing/test/listen/http2/hpack.ts';
import type { Http2Call, Http2Reply, Http2Request, RequestPart, UpstreamStream } from './http2-call.ts';

/** What a request has besides `GET /` for `$host`. */
export interface Described {
  readonly method?: string;
  readonly path?: string;
  /** Instead of the usual pseudo-headers. */
  readonly pseudo?: readonly Field[];
  /** Fields behind the pseudo-headers. */
  readonly fields?: readonly Field[];
  /** The body; by default the request ends with its head. */
  readonly body?: string;
  readonly trailers?: readonly Field[];
  /** The body is not ended. */
  readonly isOpen?: true;
  /** Resets the stream behind the head and the body. */
  readonly reset?: number;
}

/** The pseudo-headers of a request for `$host`, without or with another value for some. */
export function pseudo(changed: Readonly<Record<string, string | undefined>> = {}): Field[] {
  const all = { ':method': 'GET', ':scheme': 'http', ':authority': '$host', ':path': '/', ...changed };
  return Object.entries(all).flatMap(([name, value]): Field[] => (value === undefined ? [] : [[name, value]]));
}

/** A request that only HTTP/2 can express. */
export function call(described: Described = {}): Http2Call {
  return { http2: [requestOf(described)] };
}

/** Several requests on one connection. */
export function calls(...described: readonly Described[]): Http2Call {
  return { http2: described.map(requestOf) };
}

/** A request that the client resets with a code when an upstream has received it. */
export function leave(code: number): Http2Call {
  const request = requestOf({});
  return {
    http2: [
      { ...request, parts: [...request.parts, { body: '', trailers: [], ends: false, reset: code }], waits: true },
    ],
  };
}

function requestOf({
  method = 'GET',
  path = '/',
  fields = [],
  body = '',
  trailers = [],
  ...more
}: Described): Http2Request {
  const part: RequestPart = {
    body,
    trailers,
    ends: more.isOpen !== true,
    ...(more.reset !== undefined && { reset: more.reset }),
  };
  return { fields: [...(more.pseudo ?? pseudo({ ':method': method, ':path': path })), ...fields], parts: [part] };
}

/** A reply that does not wait for the body of the request. */
export function early(http2: (stream: UpstreamStream) => void): Http2Reply {
  return { http2, isEarly: true };
}

/** A reply that only HTTP/2 can express. */
export function stream(http2: (stream: UpstreamStream) => void): Http2Reply {
  return { http2 };
}
