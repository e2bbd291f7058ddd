import {
  GatewayError,
  type CallUpstream,
  type ResourceRef,
  type SnapshotUpstream,
  type UpstreamResponse,
  type UpstreamCall,
  type UpstreamConnection,
  startTimer,
} from '@edge-gateway/core';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { graphqlError } from '../errors/refusal.ts';

/** Base URLs of upstreams, by `name` or `namespace/name`, e.g. `{ books: 'http://127.0.0.1:9080' }`. */
export type UpstreamUrls = Readonly<Record<string, string>>;

/** A base URL in two parts; the path does not end with a slash. */
interface Base {
  readonly origin: string;
  readonly path: string;
}

/** For connections that are not shared: HTTP/1.1 only, connected within 10 s. */
const connector = buildConnector({ allowH2: false, timeout: 10_000 });

const TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT']);

/** Creates a caller. Throws `ERR_GRAPHQL_API` for invalid URLs. Does not follow redirects. */
export function createUrlCaller(urls: UpstreamUrls) {
  const bases = new Map(Object.entries(urls).map(([name, url]) => [name, baseOf(name, url)] as const));
  const agent = new Agent();
  const baseFor = (ref: ResourceRef): Base => {
    const base = bases.get(`${ref.namespace}/${ref.name}`) ?? bases.get(ref.name);
    if (!base) throw failure(503, `no URL configured for upstream ${ref.name}`);
    return base;
  };
  const upstreams = new Map(Array.from(bases, ([name, { origin }]) => [name, upstreamAt(name, origin)] as const));
  const call: CallUpstream = async (
    ref,
    { method, path, headers = [], body, timeoutMs, maxBodyBytes, signal, onData },
  ) => {
    const base = baseFor(ref);
    const over = new AbortController();
    const abort = (): void => over.abort();
    const timer = startTimer(abort, timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const answer = await agent.request({
        origin: base.origin,
        path: base.path + path,
        method: method as Dispatcher.HttpMethod,
        headers: [...headers],
        body: body === undefined ? null : typeof body === 'string' ? body : Buffer.from(body),
        signal: over.signal,
        // `timeoutMs` limits the whole request; a stream may be silent for as long.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      return await whole(answer, maxBodyBytes, onData);
    } catch (error) {
      throw explained(error, over.signal.aborted);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  };
  call.connect = (ref) => connectTo(baseFor(ref));
  return {
    /** Returns an upstream by its URL, for callers with their own connections. */
    find: ({ namespace, name }: ResourceRef) => upstreams.get(`${namespace}/${name}`) ?? upstreams.get(name),
    call,
    close: () => agent.close(),
  };
}

function connectTo({ origin, path }: Base): Promise<UpstreamConnection> {
  const { hostname, port, protocol, host } = new URL(origin);
  return new Promise((resolve, reject) => {
    connector({ hostname: hostname.replaceAll(/^\[|\]$/g, ''), protocol, port }, (error, socket) => {
      if (socket) resolve({ socket, host, basePath: path });
      else reject(explained(error, false));
    });
  });
}

async function whole(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  max: number,
  onData: UpstreamCall['onData'],
): Promise<UpstreamResponse> {
  const joined = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ]);
  const head = { status: statusCode, headers: Object.fromEntries(joined) as Record<string, string> };
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (onData) {
      onData(chunk, head);
      continue;
    }
    size += chunk.length;
    // Leaving the loop destroys the body and its connection.
    if (size > max) throw failure(502, `the response is larger than ${max} bytes`);
    chunks.push(chunk);
  }
  return { ...head, body: Buffer.concat(chunks) };
}

function explained(error: unknown, aborted: boolean): GatewayError {
  if (error instanceof GatewayError) return error;
  const { code = '', message } = error as Error & { readonly code?: string };
  if (aborted || TIMEOUTS.has(code)) return failure(504, 'the response timed out', error);
  return failure(code.startsWith('HPE_') ? 502 : 503, code || message, error);
}

function failure(status: number, reason: string, cause?: unknown): GatewayError {
  return new GatewayError(reason, { code: 'ERR_GRAPHQL_CALL', status, cause });
}

function baseOf(name: string, text: string): Base {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw graphqlError('ERR_GRAPHQL_API', `upstreams.${name} must be an http:// or https:// URL.`);
  }
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
}

function upstreamAt(name: string, origin: string): SnapshotUpstream {
  const { hostname, port, protocol } = new URL(origin);
  const tls = protocol === 'https:';
  const address = hostname.replaceAll(/^\[|\]$/g, '');
  const endpoint = { address, port: Number(port) || (tls ? 443 : 80), weight: 1 };
  return { name, ref: { name, namespace: 'default' }, spec: {}, endpoints: [endpoint], tls };
}

/** A caller without upstreams: rejects every call. */
export const noUpstreams: CallUpstream = (ref: ResourceRef) =>
  Promise.reject(failure(503, `upstream ${ref.name} cannot be reached from here`));
