import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, listenHttpServer, readBody, type ListeningServer } from '@edge-gateway/core';
import { OVER_LIMIT } from '../protocol/messages.ts';
import { MAX_CHECK_MS, type RateLimitListenOptions } from './grpc-server.ts';
import { requestOfJson, responseToJson } from './json-messages.ts';
import type { RateLimitService } from './rate-limit-service.ts';

const MAX_HEADER_BYTES = 16_384;
const MAX_BODY_BYTES = 1_048_576;

/**
 * Serves the JSON form of the protocol: `POST /json` with a `RateLimitRequest`, which returns a `RateLimitResponse` and status 200, or 429 over a limit;
 * 400 for an invalid request, 500 if it cannot be counted. `GET /healthcheck` returns 200, and 500 while the server stops. Rejects with the
 * error of the socket if it cannot listen.
 *
 * @example
 * const server = await listenRateLimitHttp(service, { port: 18080, address: '127.0.0.1', log });
 */
export async function listenRateLimitHttp(
  service: RateLimitService,
  { log, ...address }: RateLimitListenOptions,
): Promise<ListeningServer> {
  let isDraining = false;

  async function answer(req: IncomingMessage): Promise<Answer> {
    const [path] = (req.url ?? '').split('?', 1);
    if (path === '/healthcheck') {
      if (req.method !== 'GET' && req.method !== 'HEAD')
        return { status: 405, body: '', headers: { allow: 'GET, HEAD' } };
      return isDraining ? { status: 500, body: 'stopping\n' } : { status: 200, body: 'OK' };
    }
    if (path !== '/json') return { status: 404, body: 'the paths are /json and /healthcheck\n' };
    if (req.method !== 'POST') return { status: 405, body: '', headers: { allow: 'POST' } };
    const { 'content-encoding': encoding = 'identity' } = req.headers;
    if (encoding.toLowerCase() !== 'identity') return refused(415, 'compressed bodies are not supported');
    const bytes = await readBody(req, MAX_BODY_BYTES);
    if (!bytes) return refused(413, `the body has more than ${MAX_BODY_BYTES} bytes`);
    const response = await service.check(requestOfJson(bytes.toString('utf8')), MAX_CHECK_MS);
    return {
      status: response.overallCode === OVER_LIMIT ? 429 : 200,
      body: JSON.stringify(responseToJson(response)),
      headers: { 'content-type': 'application/json' },
    };
  }

  function failure(error: unknown): Answer {
    if (error instanceof GatewayError && error.status === 400) return { status: 400, body: `${error.message}\n` };
    log.debug({ err: error }, 'check failed');
    return { status: 500, body: 'the request cannot be counted\n' };
  }

  const server = await listenHttpServer(
    (req, res) =>
      void answer(req)
        .catch(failure)
        .then((each) => respond(res, each)),
    { ...address, maxHeaderSize: MAX_HEADER_BYTES },
  );
  return {
    ...server,
    drain() {
      isDraining = true;
      return server.drain();
    },
  };
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The connection is of no use when a body was not read. */
function refused(status: number, reason: string): Answer {
  return { status, body: `${reason}\n`, headers: { connection: 'close' } };
}

function respond(res: ServerResponse, { status, body, headers }: Answer): void {
  if (res.destroyed) return;
  const type = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
  res.writeHead(status, { ...type, ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}
