import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http1ClientConnection } from './connection.ts';
import { refusal, type Refusal } from '../check/refusal.ts';
import { Expectation } from '../http1/expectation.ts';
import { replacePush } from '../http1/owned-chunk.ts';
import { forbiddenTrailer } from '../http1/trailers.ts';

/**
 * Watches a chunked body for what the parser does not check: its size, forbidden trailers, and their number.
 * `onProblem` is called at most once, before the invalid part of the body can be read from the request.
 */
export function watchBody(
  connection: Http1ClientConnection,
  req: IncomingMessage,
  onProblem: (refused: Refusal) => void,
): void {
  const { maxBodyBytes, maxHeaders } = connection.limits;
  let bytes = 0;
  let stopped = false;
  const stop = (refused: Refusal): true => {
    if (!stopped) onProblem(refused);
    return (stopped = true);
  };
  const push = req.push.bind(req);
  replacePush(req, (chunk: Buffer | null) => {
    if (stopped) return true;
    if (chunk !== null) {
      bytes += chunk.length;
      const tooLarge = maxBodyBytes > 0 && bytes > maxBodyBytes;
      return tooLarge ? stop(refusal('ERR_ROUTING_BODY_TOO_LARGE')) : push(chunk);
    }
    const { rawTrailers } = req;
    if (rawTrailers.length > 2 * maxHeaders) return stop(refusal('ERR_ROUTING_TOO_MANY_HEADERS'));
    const detail = forbiddenTrailer(rawTrailers);
    return detail === undefined ? push(null) : stop(refusal('ERR_ROUTING_BAD_TRAILER', { detail }));
  });
}

/**
 * Sends `100 Continue` when the body is first read, not before, or when the upstream does, see {@link Expectation}.
 */
export function continueWhenRead(req: IncomingMessage, res: ServerResponse): void {
  const expectation = new Expectation(req, res);
  const read = req._read.bind(req);
  delete req.headers.expect;
  req.rawHeaders = req.rawHeaders.filter((_, i, all) => all[i - (i % 2)]!.toLowerCase() !== 'expect');
  req._read = (size) => {
    req._read = read;
    expectation.bodyRead();
    read(size);
  };
}
