import type { IncomingMessage } from 'node:http';
import { GatewayError } from '@edge-gateway/core';

/** What a body parser may have left on a request. */
type ParsedRequest = IncomingMessage & { readonly body?: unknown; readonly rawBody?: unknown };

/**
 * The body that a parser in front has read: its bytes where the parser kept them, else JSON, a form or text written
 * anew. Throws `ERR_EXTAUTH_CONFIG` where nothing was left that can be shown to a step.
 */
export function parsedBody(req: IncomingMessage): Buffer {
  const { body, rawBody } = req as ParsedRequest;
  const [type = ''] = (req.headers['content-type'] ?? '').toLowerCase().split(';', 1);
  if (Buffer.isBuffer(rawBody)) return rawBody;
  if (Buffer.isBuffer(body)) return body;
  const text = written(body, type.trim());
  if (text !== undefined) return Buffer.from(text);
  throw new GatewayError(
    'the body was read before external auth, and what is left of it is no JSON, form or text: mount external auth first',
    { code: 'ERR_EXTAUTH_CONFIG' },
  );
}

function written(body: unknown, type: string): string | undefined {
  if (body === undefined) return undefined;
  if (type === 'application/json' || type.endsWith('+json')) return JSON.stringify(body);
  if (typeof body === 'string') return body;
  return type === 'application/x-www-form-urlencoded' ? form(body) : undefined;
}

function form(body: unknown): string | undefined {
  const pairs = Object.entries(body ?? {}).flatMap(([name, value]) => [value].flat().map((each) => [name, each]));
  return pairs.every((pair): pair is [string, string] => typeof pair[1] === 'string')
    ? new URLSearchParams(pairs).toString()
    : undefined;
}
