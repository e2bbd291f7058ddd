import type { Response } from 'express';
import { jsonChunks } from './json-chunks.ts';
import { sendChunks } from './send-chunks.ts';

const CONTENT_TYPES = {
  text: 'text/plain; charset=utf-8',
  json: 'application/json',
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  script: 'text/javascript; charset=utf-8',
  events: 'text/event-stream',
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
} as const;

const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'";

/** The response of an endpoint. Default: status 200, text. */
export interface EndpointResponse {
  readonly status?: number;
  readonly type?: keyof typeof CONTENT_TYPES;
  /** Chunks are created while they are sent, with pauses in which requests are served. */
  readonly body: string | Iterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Continues writing after the body, which must be a text, and decides when the response ends. */
  readonly stream?: (res: Response) => void;
  /** Called after the response was sent. */
  readonly after?: () => void;
}

/** Returns a response in JSON on one line. */
export function compactJson(value: unknown): EndpointResponse {
  return { type: 'json', body: withNewLine(jsonChunks(value)) };
}

/** Returns a response in JSON, indented by one space. */
export function json(value: unknown): EndpointResponse {
  return { type: 'json', body: withNewLine(jsonChunks(value, 1)) };
}

function* withNewLine(chunks: Iterable<string>): Iterable<string> {
  yield* chunks;
  yield '\n';
}

/** Sends a response; pages run no script and load nothing. */
export async function send(
  res: Response,
  { status = 200, type = 'text', body, headers, stream, after }: EndpointResponse,
): Promise<void> {
  if (after) res.once('close', after);
  if (type === 'html') res.set('content-security-policy', PAGE_POLICY);
  res
    .status(status)
    .set({ ...headers })
    .type(CONTENT_TYPES[type]);
  if (stream && typeof body === 'string' && res.req.method !== 'HEAD') {
    res.flushHeaders();
    res.write(body);
    stream(res);
  } else if (typeof body === 'string') res.end(body);
  else await sendChunks(res, body);
}
