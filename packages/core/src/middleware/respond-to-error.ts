import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorResponse, type ErrorResponse } from '../http/error-response.ts';
import type { Context } from '../contract/concern.ts';
import { factsOf } from '../contract/facts.ts';
import { renderForBrowser } from './render-for-browser.ts';
import { signsOf } from '../page/navigation.ts';
import { createPages } from '../page/pages.ts';

/** How errors are shown, see `Context`. */
export type ErrorForms = Pick<Context, 'pages' | 'jsonErrors'>;

const DEFAULT_FORMS: ErrorForms = { pages: createPages() };

/**
 * Responds to a request with an error, in a user's own server: browsers receive a page, scripts JSON or text. A response that
 * has already started is aborted.
 */
export function respondToError(
  error: unknown,
  req: IncomingMessage,
  res: ServerResponse,
  forms: ErrorForms = DEFAULT_FORMS,
): void {
  if (res.writableEnded || res.destroyed) return;
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { status, body, contentType, headers } = errorForClient(error, req, forms);
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

/** Returns the response to an error in the form for the client of a request. */
export function errorForClient(error: unknown, req: IncomingMessage, { pages, jsonErrors }: ErrorForms): ErrorResponse {
  const facts = factsOf(req);
  const requestId = (facts.requestId ||= randomUUID());
  return renderForBrowser(errorResponse(error, requestId), {
    request: signsOf(req),
    requestId,
    pages,
    jsonErrors,
    facts,
  });
}
