import { parseDuration, type ResourceRef, type UpstreamAnswer, type UpstreamCall } from '@edge-gateway/core';
import type { Resolution } from '@edge-gateway/core/schema';
import { recorded } from '../../trace/http-call.ts';
import { callKind, traced, type TracedCall } from '../../trace/span.ts';
import { callFailure, jsonOf } from '../calls.ts';
import { DEFAULT_TIMEOUT_MS, rootsOf, type Resolver, type ResolverContext, type ResolverRun } from '../resolver.ts';
import { compileResponse } from './response.ts';
import { compileRestTemplate, type RestRequest } from './rest-request.ts';

type RestResolver = NonNullable<Resolution['restResolver']>;

/** Sends the requests of one resolver. */
export interface RestCaller {
  readonly upstream: ResourceRef;
  /** Makes a request. Equal requests are made once. */
  ask(request: RestRequest, run: ResolverRun): Promise<unknown>;
}

/** Compiles a resolver that calls a REST service. Throws an `Error` that says what is wrong. */
export function compileRest(rest: RestResolver, name: string, context: ResolverContext): Resolver {
  const template = compileRestTemplate(rest);
  const caller = createRestCaller(rest, name, context);
  const read = rest.response ? compileResponse(rest.response) : undefined;
  return {
    usesClient: template.usesClient || read?.usesClient === true,
    resolve(parent, args, run) {
      const roots = rootsOf(parent, args, run);
      const body = caller.ask(template.render(roots), run);
      return read ? body.then((value) => read(value, roots)) : body;
    },
  };
}

/** Creates the caller of a resolver. */
export function createRestCaller(rest: RestResolver, name: string, context: ResolverContext): RestCaller {
  const upstream = upstreamOf(rest.upstreamRef, context);
  const counts = context.countsOf(name);
  const timeoutMs = timeoutFinder(rest.timeout, upstream, context);
  const { limits, callUpstream } = context;
  const headOf = createHeads(`${upstream.namespace} ${upstream.name}`);
  const place = { upstream, find: context.findUpstream };
  const kind = callKind(rest.spanName || name);

  function callOf({ method, path, headers, body }: RestRequest, run: ResolverRun): UpstreamCall {
    const { retries } = run;
    const maxBodyBytes = limits.maxResponseBytes;
    const call: UpstreamCall = {
      method,
      path,
      headers,
      timeoutMs: timeoutMs(),
      maxBodyBytes,
      signal: run.calls.signal,
    };
    if (body === undefined && !retries) return call;
    const retry = retries && { policy: retries, repeatable: isRepeatable(method, run) };
    return { ...call, ...(body !== undefined && { body }), ...(retry && { retry }) };
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

  function taken(answer: UpstreamAnswer, trace: TracedCall | undefined): unknown {
    trace?.span.setAttribute('http.response.status_code', answer.status);
    try {
      return jsonOf(answer, upstream);
    } catch (error) {
      counts.failed.value++;
      throw error;
    }
  }

  return {
    upstream,
    ask(request, run) {
      counts.total.value++;
      const ask = (): Promise<unknown> => traced(kind, run.trace, (trace) => make(request, run, trace));
      if (!isRepeatable(request.method, run)) return run.calls.make(ask);
      const { path, body } = request;
      return run.calls.once(headOf(request), body === undefined ? path : `${path}\n${body}`, ask);
    },
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

/** Returns the upstream of a resolver. Throws an `Error` if it names none. */
export function upstreamOf(
  written: RestResolver['upstreamRef'],
  { namespace }: Pick<ResolverContext, 'namespace'>,
): ResourceRef {
  if (!written?.name) throw new Error('upstreamRef must name an upstream');
  return { name: written.name, namespace: written.namespace || namespace };
}

/** Returns the timeout: the resolver's own, else the connect timeout of its upstream, else 1 s. */
export function timeoutFinder(
  written: string | undefined,
  upstream: ResourceRef,
  { findUpstream }: Pick<ResolverContext, 'findUpstream'>,
): () => number {
  const own = written === undefined ? 0 : parseDuration(written);
  if (own > 0) return () => own;
  return () => {
    const connect = findUpstream?.(upstream)?.spec.connectionConfig?.connectTimeout;
    return connect === undefined ? DEFAULT_TIMEOUT_MS : parseDuration(connect) || DEFAULT_TIMEOUT_MS;
  };
}
