import type { IncomingMessage, ServerResponse } from 'node:http';
import { FilteredResponse, type FailureReply } from '../body/filtered-response.ts';
import type { Handler } from '../contract/concern.ts';
import { errorForClient, type ErrorForms } from './respond-to-error.ts';

const FILTERS = Symbol('edge-gateway.response-filters');
type Filtered = ServerResponse & {
  [FILTERS]?: { readonly handlers: Handler[]; readonly response: FilteredResponse };
};

const FROM_APPLICATION = { isLocalReply: false, details: '', flags: '' };

/** Adds the filter of a handler to a response in a user's own server: those of later handlers are applied first. */
export function filterResponse(req: IncomingMessage, res: Filtered, handler: Handler, forms: ErrorForms): void {
  if (res[FILTERS]) {
    res[FILTERS].handlers.push(handler);
    return;
  }
  const handlers = [handler];
  const response = new FilteredResponse(req, res, {
    filters: () => handlers.flatMap((each) => each.filterResponse?.(req) ?? []),
    describe: () => FROM_APPLICATION,
    onHead: (_status, headers) => headers,
    onError: (error) => failureOf(error, req, forms),
    onSettled: () => {},
  });
  res[FILTERS] = { handlers, response };
}

function failureOf(error: unknown, req: IncomingMessage, forms: ErrorForms): FailureReply {
  const { status, body, contentType, headers } = errorForClient(error, req, forms);
  return { status, body, headers: contentType === '' ? headers : [...headers, 'content-type', contentType] };
}
