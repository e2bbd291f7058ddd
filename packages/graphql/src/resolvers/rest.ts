import { parseDuration, type ResourceRef } from '@edge-gateway/core';
import type { Resolution } from '@edge-gateway/core/schema';
import type { Run } from '../execute/run.ts';
import { askJson } from './calls.ts';
import { DEFAULT_TIMEOUT_MS, rootsOf, type Resolver, type ResolverContext } from './resolver.ts';
import { compileResponse } from './response.ts';
import { compileRestTemplate, type RestRequest } from './rest-request.ts';

type RestResolver = NonNullable<Resolution['restResolver']>;

/** How requests of one resolver reach their upstream. */
export interface RestCaller {
  readonly upstream: ResourceRef;
  /** Makes a request, once for equal ones. */
  ask(request: RestRequest, run: Run): Promise<unknown>;
}

/** Compiles a resolver that asks a REST service. Throws an `Error` that says what is wrong. */
export function compileRest(rest: RestResolver, name: string, context: ResolverContext): Resolver {
  const template = compileRestTemplate(rest);
  const caller = createRestCaller(rest, name, context);
  const read = compileResponse(rest.response);
  return {
    usesClient: template.usesClient,
    resolve(parent, args, run) {
      const roots = rootsOf(parent, args, run);
      return caller.ask(template.render(roots), run).then((body) => read(body, roots));
    },
  };
}

/** Makes what asks the upstream of a resolver. */
export function createRestCaller(rest: RestResolver, name: string, context: ResolverContext): RestCaller {
  const upstream = upstreamOf(rest.upstreamRef, context);
  const counts = context.countsOf(name);
  const timeoutMs = timeoutFinder(rest.timeout, upstream, context);
  const { limits, callUpstream } = context;
  const where = `${upstream.namespace} ${upstream.name}`;
  return {
    upstream,
    ask(request, run) {
      const { method, path, body } = request;
      counts.total.value++;
      const headers = body === undefined ? request.headers : withType(request.headers);
      const make = async (): Promise<unknown> => {
        const call = { method, path, headers, timeoutMs: timeoutMs(), ...(body !== undefined && { body }) };
        const options = { signal: run.calls.signal, maxBodyBytes: limits.maxResponseBytes };
        try {
          return await askJson({ upstream, call }, callUpstream, options);
        } catch (error) {
          counts.failed.value++;
          throw error;
        }
      };
      return run.calls.once(isOnce(method, run) ? keyOf(where, request) : undefined, make);
    },
  };
}

/** Of a mutation only what changes nothing is asked once. */
function isOnce(method: string, { request }: Run): boolean {
  return method === 'GET' || method === 'HEAD' || request.operation.definition.operation === 'query';
}

function keyOf(where: string, { method, path, headers, body }: RestRequest): string {
  return `${where} ${method} ${path}\n${headers.join('\n')}\n\n${body ?? ''}`;
}

function withType(headers: readonly string[]): readonly string[] {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'content-type') return headers;
  return [...headers, 'content-type', 'application/json'];
}

/** The upstream a resolver names. Throws when it names none. */
export function upstreamOf(
  written: RestResolver['upstreamRef'],
  { namespace }: Pick<ResolverContext, 'namespace'>,
): ResourceRef {
  if (!written?.name) throw new Error('upstreamRef names no upstream');
  return { name: written.name, namespace: written.namespace || namespace };
}

/** The time limit: the resolver's own, else the connect timeout of its upstream, else 1 s. */
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
