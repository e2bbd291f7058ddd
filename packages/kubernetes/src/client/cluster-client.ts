import { startTimer, timeoutSignal } from '@edge-gateway/core';
import { once } from 'node:events';
import { request as send, WebSocket, type Dispatcher, type ErrorEvent } from 'undici';
import { ApiError, type ApiStatus } from './api-error.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { createCredentials, type Credentials } from './credentials.ts';
import { kubernetesError } from '../error-codes.ts';
import { createRequestLimiter, type RequestLimit } from './token-bucket.ts';

/** A request to the API server. */
export interface ClusterRequest {
  /** Default: GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** E.g. `/apis/gw.vendor.io/v1/upstreams`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Converted to JSON. */
  readonly body?: unknown;
  /** Default: `application/json`. Server-side apply: `application/apply-patch+yaml`, which accepts JSON. */
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal;
  /** Until the response is complete; of a stream, until its head. Default: 30 s. */
  readonly timeoutMs?: number;
  /** Bytes of a response that is read whole. Default: 256 MiB. */
  readonly maxBytes?: number;
}

export interface WebSocketRequest extends Pick<ClusterRequest, 'path' | 'query' | 'timeoutMs'> {
  /** The protocols to choose from. */
  readonly protocols: readonly string[];
  /** Receives every message; the first ones may follow the head of the response at once. */
  onMessage(message: Buffer): void;
}

/** The body of a response that is read while it arrives. */
export type ResponseStream = AsyncIterable<Buffer> & { destroy(): void };

/** Sends requests to the API server of one cluster. */
export interface ClusterClient {
  /** The namespace of the context, or of the pod. */
  readonly namespace: string | undefined;
  /** Returns the JSON of the response. Throws {@link ApiError} if the API server rejects the request. */
  send<T>(request: ClusterRequest): Promise<T>;
  /** Returns the body while it arrives, without the limit of requests. Throws {@link ApiError} as well. */
  stream(request: ClusterRequest): Promise<ResponseStream>;
  /** Opens a WebSocket. Rejects with `ERR_KUBERNETES_API` if the API server rejects it. */
  webSocket(request: WebSocketRequest): Promise<WebSocket>;
  close(): Promise<void>;
}

/** Options of {@link createClusterClient}. */
export interface ClusterClientOptions {
  /** Default: no limit of our own; the API server rejects what is too much, with a time to wait. */
  readonly limit?: RequestLimit;
  readonly userAgent?: string;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_BYTES = 256 * 2 ** 20;
/** Bytes of an error that are read. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Rejected credentials are read again at most this often. */
const RELOAD_INTERVAL_MS = 10_000;

/**
 * Creates a client. Makes no request; reads the credentials. Throws `ERR_KUBERNETES_ACCESS` if they are unusable.
 *
 * @example
 * const client = await createClusterClient(findClusterAccess({ env: process.env }));
 * const { items } = await client.send<{ items: unknown[] }>({ path: '/apis/gw.vendor.io/v1/upstreams' });
 */
export async function createClusterClient(
  access: ClusterAccess,
  options: ClusterClientOptions = {},
): Promise<ClusterClient> {
  const credentials = await createCredentials(access);
  const acquire = options.limit && createRequestLimiter(options.limit);
  const { userAgent = 'edge-gateway' } = options;
  let reloadedAt = -Infinity;

  /** A token may have expired since it was read: reads the credentials again once. */
  async function respond(request: ClusterRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const response = await sendTo(credentials, request, { signal, userAgent });
    if (response.statusCode !== 401 || performance.now() - reloadedAt < RELOAD_INTERVAL_MS) return response;
    reloadedAt = performance.now();
    await response.body.dump();
    credentials.reload();
    return sendTo(credentials, request, { signal, userAgent });
  }

  return {
    get namespace() {
      return credentials.namespace;
    },
    async send<T>(request: ClusterRequest): Promise<T> {
      const { signal: given, timeoutMs = DEFAULT_TIMEOUT_MS, maxBytes = DEFAULT_MAX_BYTES } = request;
      await acquire?.(given);
      const timeout = timeoutSignal(timeoutMs);
      const signal = given ? AbortSignal.any([given, timeout]) : timeout;
      const response = await respond(request, signal);
      if (response.statusCode >= 300) throw await rejection(request, response);
      return JSON.parse(await readText(response, maxBytes, request)) as T;
    },
    async stream(request) {
      const { signal: given, timeoutMs = DEFAULT_TIMEOUT_MS } = request;
      const head = new AbortController();
      const timer = startTimer(() => head.abort(new DOMException('no response', 'TimeoutError')), timeoutMs);
      try {
        const signal = given ? AbortSignal.any([given, head.signal]) : head.signal;
        const response = await respond(request, signal);
        if (response.statusCode >= 300) throw await rejection(request, response);
        return response.body;
      } finally {
        clearTimeout(timer);
      }
    },
    async webSocket({ protocols, onMessage, timeoutMs = DEFAULT_TIMEOUT_MS, ...request }) {
      const { server, headers, dispatcher } = await credentials.authenticate();
      const url = urlOf(server.replace(/^http/, 'ws'), request);
      const socket = new WebSocket(url, {
        protocols: [...protocols],
        headers: { ...headers, 'user-agent': userAgent },
        dispatcher,
      });
      socket.binaryType = 'arraybuffer';
      socket.addEventListener('message', ({ data }) => onMessage(Buffer.from(data as ArrayBuffer)));
      await opened(socket, `WebSocket ${request.path}`, timeoutMs);
      return socket;
    },
    close: () => credentials.close(),
  };
}

async function opened(socket: WebSocket, request: string, timeoutMs: number): Promise<void> {
  const end = new AbortController();
  const failed = async (): Promise<never> => {
    const [event] = (await once(socket, 'error', { signal: end.signal })) as [ErrorEvent];
    const message = (event.error as Error | undefined)?.message || event.message;
    throw kubernetesError('ERR_KUBERNETES_API', `${request}: ${message}`);
  };
  const timer = startTimer(() => end.abort(), timeoutMs);
  try {
    await Promise.race([once(socket, 'open', { signal: end.signal }), failed()]);
  } catch (error) {
    socket.close();
    if (!end.signal.aborted) throw error;
    throw kubernetesError('ERR_KUBERNETES_API', `${request}: no response within ${timeoutMs / 1000} s`);
  } finally {
    clearTimeout(timer);
    end.abort();
  }
}

async function sendTo(
  credentials: Credentials,
  request: ClusterRequest,
  { signal, userAgent }: { readonly signal: AbortSignal; readonly userAgent: string },
): Promise<Dispatcher.ResponseData> {
  const { server, headers, dispatcher } = await credentials.authenticate();
  const { method = 'GET', body, contentType = 'application/json', accept = 'application/json' } = request;
  return send(urlOf(server, request), {
    method,
    dispatcher,
    signal,
    // Watches may be silent for minutes; their reader knows how long.
    bodyTimeout: 0,
    headersTimeout: 0,
    headers: {
      ...headers,
      accept,
      'user-agent': userAgent,
      ...(body !== undefined && { 'content-type': contentType }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

function urlOf(server: string, { path, query = {} }: ClusterRequest): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `${server}${path}${search.size > 0 ? `?${search}` : ''}`;
}

async function readText({ body }: Dispatcher.ResponseData, maxBytes: number, request: ClusterRequest): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new ResponseTooLarge(nameOf(request), maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** A response with more bytes than the caller accepts. */
export class ResponseTooLarge extends Error {
  constructor(request: string, maxBytes: number) {
    super(`${request}: the response is larger than ${maxBytes} bytes`);
  }
}

async function rejection(request: ClusterRequest, response: Dispatcher.ResponseData): Promise<ApiError> {
  const { statusCode, headers } = response;
  const seconds = Number(headers['retry-after']);
  let status: ApiStatus = {};
  try {
    const text = await readText(response, MAX_ERROR_BYTES, request);
    const value = JSON.parse(text) as ApiStatus;
    status = value && typeof value === 'object' ? value : {};
  } catch {
    // A proxy in front of the API server has other pages.
  }
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined;
  return new ApiError(nameOf(request), { apiStatus: statusCode, status, retryAfterMs });
}

function nameOf({ method = 'GET', path }: ClusterRequest): string {
  return `${method} ${path}`;
}

/** Returns the reason for which a request got no response, for logs: without the addresses and values of its cause. */
export function connectionProblem(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError') return 'the API server does not respond';
  return code ? `${code}: ${message}` : message;
}
