import type { AuthRequest } from '@edge-gateway/core';
import { valuesOf } from './signed-text.ts';

/** A longer header is rejected unread, in characters. */
const MAX_LENGTH = 4096;
/** Most lines of a signature. */
const MAX_LINES = 32;
const PARAMETER = /^ *(username|algorithm|headers|signature)="([^"\\]*)" *$/;
const PARAMETERS = ['username', 'algorithm', 'headers', 'signature'] as const;
/** Digests of Node by the names in requests. */
const ALGORITHMS = { 'hmac-sha1': 'sha1', 'hmac-sha256': 'sha256' } as const;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Name of a digest in `node:crypto`. */
export type Algorithm = (typeof ALGORITHMS)[keyof typeof ALGORITHMS];

/** The signature of a request, as its `Authorization` header declares it. */
export interface Signature {
  readonly username: string;
  readonly algorithm: Algorithm;
  /** The signed lines in order, in lower case, each once. */
  readonly headers: readonly string[];
  readonly digest: Buffer;
}

/**
 * Parses `Authorization: hmac username="…", algorithm="…", headers="…", signature="…"`: each parameter exactly once, in any
 * order, and no other one. Returns why there is no usable signature as text, without parts of the header.
 */
export function signatureOf(request: AuthRequest): Signature | string {
  const [header, ...others] = valuesOf(request, 'authorization');
  if (header === undefined) return 'no signature';
  if (others.length > 0) return 'several Authorization headers';
  const [, written] = (header.length <= MAX_LENGTH && /^hmac +(.*)$/i.exec(header)) || [];
  if (written === undefined) return 'no signature';
  const parameters = parametersOf(written);
  if (!parameters) return 'malformed signature parameters';
  const algorithm = algorithmOf(parameters.algorithm);
  if (!algorithm) return 'unknown signature algorithm';
  const headers = parameters.headers.toLowerCase().split(' ');
  const isList = headers.every((name) => name !== '') && headers.length <= MAX_LINES;
  if (!isList || new Set(headers).size < headers.length) return 'malformed list of signed headers';
  const { username, signature } = parameters;
  if (username === '' || signature === '' || !BASE64.test(signature)) return 'malformed signature parameters';
  return { username: utf8(username), algorithm, headers, digest: Buffer.from(signature, 'base64') };
}

function parametersOf(written: string): Record<(typeof PARAMETERS)[number], string> | undefined {
  const found = new Map<string, string>();
  // A comma separates parameters, also in quotes: no user name may contain one.
  for (const part of written.split(',')) {
    const [, name, value] = PARAMETER.exec(part) ?? [];
    if (name === undefined || value === undefined || found.has(name)) return undefined;
    found.set(name, value);
  }
  if (found.size < PARAMETERS.length) return undefined;
  return Object.fromEntries(found) as Record<(typeof PARAMETERS)[number], string>;
}

function algorithmOf(name: string): Algorithm | undefined {
  return Object.hasOwn(ALGORITHMS, name) ? ALGORITHMS[name as keyof typeof ALGORITHMS] : undefined;
}

/** The bytes of a header value as text. */
function utf8(value: string): string {
  return Buffer.from(value, 'latin1').toString('utf8');
}
