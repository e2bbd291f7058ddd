import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorResponse } from '../http/error-response.ts';
import { factsOf } from '../contract/facts.ts';
import { forPeople } from './for-people.ts';
import { signsOf } from '../page/navigation.ts';
import { createPages } from '../page/pages.ts';

const DEFAULT_PAGES = createPages();

/**
 * Responds to a request with an error, in a user's own server: browsers receive a page, scripts JSON or text. A response that
 * has already started is aborted.
 */
export function respondToError(error: unknown, req: IncomingMessage, res: ServerResponse, pages = DEFAULT_PAGES): void {
  if (res.writableEnded || res.destroyed) return;
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const facts = factsOf(req);
  const requestId = facts.requestId || randomUUID();
  const reader = { request: signsOf(req), requestId, pages, facts };
  const { status, body, contentType, headers } = forPeople(errorResponse(error, requestId), reader);
  const names = new Set(headers.flatMap((each, i) => (i % 2 === 0 ? [each.toLowerCase()] : [])));
  for (const name of names) if (name !== 'vary') res.removeHeader(name);
  for (let i = 0; i < headers.length; i += 2) res.appendHeader(headers[i]!, headers[i + 1]!);
  if (contentType !== '') res.setHeader('content-type', contentType);
  res.setHeader('content-length', Buffer.byteLength(body));
  // An unread body would be parsed as the next request.
  if (!req.complete && req.httpVersionMajor < 2) res.setHeader('connection', 'close');
  res.statusCode = status;
  res.end(req.method === 'HEAD' ? '' : body);
}
