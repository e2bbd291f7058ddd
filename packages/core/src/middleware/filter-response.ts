import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { FilteredResponse, type FailureReply } from '../body/filtered-response.ts';
import type { Handler } from '../contract/concern.ts';
import { factsOf } from '../contract/facts.ts';
import { errorResponse } from '../http/error-response.ts';

const FILTERS = Symbol('edge-gateway.response-filters');
type Filtered = ServerResponse & {
  [FILTERS]?: { readonly handlers: Handler[]; readonly response: FilteredResponse };
};

const FROM_APPLICATION = { isLocalReply: false, details: '', flags: '' };

/** Adds the filter of a handler to a response in a user's own server: those of later handlers are applied first. */
export function filterResponse(req: IncomingMessage, res: Filtered, handler: Handler): void {
  if (res[FILTERS]) {
    res[FILTERS].handlers.push(handler);
    return;
  }
  const handlers = [handler];
  const response = new FilteredResponse(req, res, {
    filters: () => handlers.flatMap((each) => each.filterResponse?.(req) ?? []),
    describe: () => FROM_APPLICATION,
    onHead: (_status, headers) => headers,
    onError: (error) => failureOf(error, req),
    onSettled: () => {},
  });
  res[FILTERS] = { handlers, response };
}

function failureOf(error: unknown, req: IncomingMessage): FailureReply {
  const { status, body, contentType, headers } = errorResponse(error, factsOf(req).requestId || randomUUID());
  return { status, body, headers: contentType === '' ? headers : [...headers, 'content-type', contentType] };
}
