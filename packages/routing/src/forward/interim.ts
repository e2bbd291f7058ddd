import type { IncomingMessage, ServerResponse } from 'node:http';
import { expectationOf } from '../http1/expectation.ts';
import { findHeader } from '../http1/flat-headers.ts';
import type { ResponseHead } from '../http1/response-head.ts';

/** Sends an interim response of an upstream to the client, except over HTTP/1.0. Returns true if it was sent. */
export function sendInterim(req: IncomingMessage, res: ServerResponse, { status, headers }: ResponseHead): boolean {
  if (req.httpVersion === '1.0' || res.headersSent || res.destroyed) return false;
  if (status === 100) sendContinue(req, res);
  else if (status === 102) res.writeProcessing();
  else if (status === 103) return sendHints(res, headers);
  else return false;
  return true;
}

function sendContinue(req: IncomingMessage, res: ServerResponse): void {
  const expectation = expectationOf(req);
  if (expectation) expectation.meet();
  else res.writeContinue();
}

/** Only `Link` has a meaning before the final response. Invalid links are dropped: the final response does not depend on them. */
function sendHints(res: ServerResponse, headers: readonly string[]): boolean {
  const link = findHeader(headers, 'link');
  if (link === undefined) return false;
  try {
    res.writeEarlyHints({ link });
    return true;
  } catch {
    return false;
  }
}
