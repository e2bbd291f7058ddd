import type { UpstreamResponse, UpstreamCall } from '@edge-gateway/core';
import { recorded } from '../../observe/http-call.ts';
import { callKind, traced, type TracedCall } from '../../observe/span.ts';
import { callFailure, jsonOf } from '../calls.ts';
import {
  rootsOf,
  timeoutFinder,
  upstreamOf,
  type Resolver,
  type ResolverContext,
  type ResolverRun,
} from '../resolver.ts';
import { compileResponse } from './response.ts';
import { compileRestTemplate, type RestRequest, type RestResolver } from './rest-request.ts';

/** Makes a request of one resolver. Equal requests are made once. */
type AskRest = (request: RestRequest, run: ResolverRun) => Promise<unknown>;

/** Compiles a resolver that calls a REST service. Throws an `Error` that says what is wrong. */
export function compileRest(rest: RestResolver, name: string, context: ResolverContext): Resolver {
  const template = compileRestTemplate(rest);
  const ask = createRestCaller(rest, name, context);
  const read = rest.response ? compileResponse(rest.response) : undefined;
  return {
    usesClient: template.usesClient || read?.usesClient === true,
    resolve(parent, args, run) {
      const roots = rootsOf(parent, args, run);
      const body = ask(template.render(roots), run);
      return read ? body.then((value) => read(value, roots)) : body;
    },
  };
}

export function createRestCaller(rest: RestResolver, name: string, context: ResolverContext): AskRest {
  const upstream = upstreamOf(rest.upstreamRef, context);
  const counts = context.countsOf(name);
  const timeoutMs = timeoutFinder(rest.timeout, upstream, context);
  const { limits, callUpstream } = context;
  const headOf = createHeads(`${upstream.namespace} ${upstream.name}`);
  const place = { upstream, find: context.findUpstream };
  const kind = callKind(rest.spanName || name);

  function callOf({ method, path, headers, body }: RestRequest, run: ResolverRun): UpstreamCall {
    const { retries } = run;
    return {
      method,
      path,
      headers,
      body,
      timeoutMs: timeoutMs(),
      maxBodyBytes: limits.maxResponseBytes,
      signal: run.calls.signal,
      retry: retries && { policy: retries, repeatable: isRepeatable(method, run) },
    };
  }

  /** Adds only one promise to that of the call, because there are many calls. */
  function make(request: RestRequest, run: ResolverRun, trace: TracedCall | undefined): Promise<unknown> {
    return callUpstream(upstream, recorded(callOf(request, run), trace, place)).then(
      (answer) => taken(answer, trace),
      (error: unknown) => {
        counts.failed.value++;
        throw callFailure(error, upstream, run.calls.signal);
      },
    );
  }

  function taken(answer: UpstreamResponse, trace: TracedCall | undefined): unknown {
    trace?.tag({ 'http.response.status_code': answer.status });
    try {
      return jsonOf(answer, upstream, limits.maxResponseBytes);
    } catch (error) {
      counts.failed.value++;
      throw error;
    }
  }

  return (request, run) => {
    counts.total.value++;
    const ask = (): Promise<unknown> => traced(kind, run.trace, (trace) => make(request, run, trace));
    if (!isRepeatable(request.method, run)) return run.calls.make(ask);
    const { path, body } = request;
    return run.calls.once(headOf(request), body === undefined ? path : `${path}\n${body}`, ask);
  };
}

/** In a mutation only safe requests are deduplicated and retried. */
function isRepeatable(method: string, { operation }: ResolverRun): boolean {
  return method === 'GET' || method === 'HEAD' || operation === 'query';
}

/** Returns method and headers of a request as text; for the same headers it is built once. */
function createHeads(where: string): (request: RestRequest) => string {
  let known: RestRequest['headers'] | undefined;
  let head = '';
  return ({ method, headers }) => {
    if (known === headers) return head;
    known = headers;
    head = `${where} ${method}\n${headers.join('\n')}`;
    return head;
  };
}
