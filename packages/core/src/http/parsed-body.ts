import type { IncomingMessage } from 'node:http';

/** The properties that a body parser may set on a request. */
type ParsedRequest = IncomingMessage & { readonly body?: unknown; readonly rawBody?: unknown };

/**
 * The bytes of a body that was parsed (`isVerbatim`: as they were sent, not serialized again), or why they cannot be
 * restored (`isMissing`: nothing is left of it).
 */
export type RestoredBody =
  | { readonly bytes: Buffer; readonly isVerbatim: boolean }
  | { readonly bytes?: undefined; readonly reason: string; readonly isMissing: boolean };

/**
 * Restores a body that a parser has read: a `Buffer` in `req.rawBody` or `req.body` unchanged; text, JSON and urlencoded
 * bodies are serialized again by their content type. Never throws: if the body cannot be serialized, `reason` contains the cause.
 */
export function restoreBody(req: IncomingMessage): RestoredBody {
  const { body, rawBody } = req as ParsedRequest;
  if (Buffer.isBuffer(rawBody)) return { bytes: rawBody, isVerbatim: true };
  if (Buffer.isBuffer(body)) return { bytes: body, isVerbatim: true };
  if (body === undefined) return { reason: 'req.body is not set', isMissing: true };
  try {
    return { bytes: Buffer.from(serialize(req, body)), isVerbatim: false };
  } catch (error) {
    // A deeply nested body overflows the stack.
    const reason = error instanceof Unserializable ? error.message : 'req.body is nested too deeply';
    return { reason, isMissing: false };
  }
}

class Unserializable extends Error {}

function serialize(req: IncomingMessage, body: unknown): string {
  const [written = ''] = (req.headers['content-type'] ?? '').toLowerCase().split(';', 1);
  const type = written.trim();
  if (type === 'application/json' || type.endsWith('+json')) return json(req, body);
  if (typeof body === 'string') return body;
  if (type === 'application/x-www-form-urlencoded' && isRecord(body)) return form(body);
  throw new Unserializable(`${type || 'a body without content type'} cannot be serialized`);
}

function json(req: IncomingMessage, body: unknown): string {
  const text = JSON.stringify(body) as string | undefined;
  if (text === undefined) throw new Unserializable('req.body cannot be represented as JSON');
  if (typeof body !== 'string') return text;
  // A string is either the raw body or a parsed JSON string: only its length distinguishes them.
  const length = Number(req.headers['content-length']);
  if (Buffer.byteLength(body) === length) return body;
  if (Buffer.byteLength(text) === length) return text;
  throw new Unserializable('it is ambiguous whether the string in req.body was parsed');
}

/** Names nest in brackets as the parsers of Express read them: `a[b]=c`; several plain values repeat the name. */
function form(body: Record<string, unknown>): string {
  const pairs: string[] = [];
  const add = (name: string, value: unknown): void => {
    if (Array.isArray(value) && value.length > 1 && value.every((each) => typeof each !== 'object')) {
      for (const each of value) add(name, each);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) add(`${name}[${key}]`, inner);
    } else {
      pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(value ?? ''))}`);
    }
  };
  for (const [name, value] of Object.entries(body)) add(name, value);
  return pairs.join('&');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
