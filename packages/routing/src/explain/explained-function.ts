import { ServerResponse } from 'node:http';
import { functionTemplate, hasBody, type RestCall } from '@edge-gateway/core';
import type { CompiledDestination } from '../route/compile/route.ts';
import { applyRequestChanges, type OutgoingRequest } from '../serve/outgoing-request.ts';
import type { Host } from '../upstream/hosts/host.ts';
import { replyToError } from './explained-request.ts';
import type { ExplainedDestination } from './explanation.ts';

/** The source of the body, and the response to a request that cannot be transformed. */
export type ExplainedPostRouting = Pick<ExplainedDestination, 'body' | 'reply'>;

/**
 * Transforms the head of a request in place after the choice of its host, as `postRouting` and the template of a function do. The
 * bodies of requests are unknown here: a template that fails without one leaves the head as it is.
 */
export function explainPostRouting(
  request: OutgoingRequest,
  { postRouting }: CompiledDestination,
  host: Host | undefined,
  call: RestCall | undefined,
): ExplainedPostRouting {
  const { facts, head, req } = request;
  if (!postRouting || !facts) return {};
  const before = { path: facts.path, method: facts.method, headers: facts.headers, routedPath: facts.routedPath };
  Object.assign(facts, { routedPath: facts.path, path: head.path, method: head.method, headers: head.headers });
  facts.hostMetadata = host?.metadata;
  let failure: unknown;
  for (const handler of postRouting) {
    if (failure === undefined) handler(req, new ServerResponse(req), (error) => (failure = error));
  }
  if (failure === undefined) {
    head.applyFacts(facts);
    applyRequestChanges(head.headers, facts);
  }
  facts.requestChanges.length = 0;
  Object.assign(facts, before);
  if (failure === undefined) return call ? { body: bodySource(call) } : {};
  const reply = replyToError(failure);
  if (!mayHaveBody(request)) return { reply };
  const what = call ? `the template of the function ${call.functionName}` : 'postRouting';
  return { body: `unknown, as are method and path: without the body of the request, ${what} fails (${reply.reason})` };
}

function mayHaveBody({ req, head }: OutgoingRequest): boolean {
  return hasBody(req) || ['POST', 'PUT', 'PATCH'].includes(head.method);
}

function bodySource({ functionName, template = {} }: RestCall): string {
  const { body, mergeExtractorsToBody, mergeJsonKeys } = functionTemplate(template);
  if (body) return body.text ? `rendered by the template of the function ${functionName}` : 'empty';
  if (mergeExtractorsToBody) return `that of the request, with the parameters of the function ${functionName}`;
  if (mergeJsonKeys) return `that of the request, with the keys of the function ${functionName}`;
  return 'that of the request';
}
