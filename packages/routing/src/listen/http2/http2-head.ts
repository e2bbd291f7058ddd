import type { IncomingHttpHeaders } from 'node:http2';
import { refusal, type Refusal } from '../../check/refusal.ts';
import { trimmedValue } from '../../http1/field-value.ts';

/** The head of an HTTP/2 request in the form of an HTTP/1.1 head. */
export interface Http2Head {
  readonly method: string;
  readonly url: string;
  /** Flat `[name, value, …]` without pseudo-header fields. */
  readonly rawHeaders: string[];
  /** By name, as `node:http` joins them; missing if they are to be read from `rawHeaders`. */
  readonly headers: IncomingHttpHeaders | undefined;
  /** Value of `:protocol` (RFC 8441). */
  readonly protocol: string | undefined;
  /** Set if the head contradicts itself. */
  readonly problem: Refusal | undefined;
}

const PSEUDO = [':method', ':path', ':authority', ':scheme', ':protocol'] as const;
const COLON = 58;

/**
 * Returns the head of a request: `host` is the value of `:authority`, and the parts of a cookie are joined (RFC 9113 8.2.3, 8.3.1).
 * Values are trimmed. `headers` is changed in place.
 */
export function readHead(headers: IncomingHttpHeaders, raw: readonly string[]): Http2Head {
  const { ':method': method = '', ':path': path = '', ':authority': authority } = headers;
  const protocol = headers[':protocol'] as string | undefined;
  const isTunnel = method === 'CONNECT' && protocol === undefined;
  for (const name of PSEUDO) delete headers[name];
  const { rawHeaders, problem, hasBlanks } = joinFields(raw, authority);
  if (hasBlanks) {
    for (let i = 0; i < raw.length; i += 2) {
      const [name, value] = [raw[i]!, raw[i + 1]!];
      const isBlank = name.charCodeAt(0) !== COLON && trimmedValue(value) !== value;
      if (isBlank) headers[name] = trimmedValue(String(headers[name]));
    }
  }
  if (authority !== undefined) headers['host'] = authority;
  // As in HTTP/1.1, the target of a tunnel is its authority (RFC 9113 8.5).
  const url = isTunnel ? (authority ?? '') : path;
  return { method, url, rawHeaders, headers, protocol, problem };
}

/** Returns the headers of a header list, with `authority` as host. */
export function joinFields(
  raw: readonly string[],
  authority: string | undefined,
): Pick<Http2Head, 'rawHeaders' | 'problem'> & { readonly hasBlanks: boolean } {
  const rawHeaders: string[] = authority === undefined ? [] : ['host', authority];
  let hasBlanks = false;
  let cookieAt = 0;
  let hosts = 0;
  let problem: Refusal | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    if (name.charCodeAt(0) === COLON) continue;
    const value = trimmedValue(raw[i + 1]!);
    if (value !== raw[i + 1]) hasBlanks = true;
    if (name === 'host' && authority !== undefined) {
      // One of them would be routed, the other one checked by a server behind.
      if (value.toLowerCase() !== authority.toLowerCase())
        problem = refusal('ERR_ROUTING_BAD_HOST', { detail: ':authority and host differ' });
      else if (++hosts > 1) problem = refusal('ERR_ROUTING_BAD_HOST', { detail: 'two hosts' });
    } else if (name === 'cookie' && cookieAt > 0) rawHeaders[cookieAt] += `; ${value}`;
    else {
      rawHeaders.push(name, value);
      if (name === 'cookie') cookieAt = rawHeaders.length - 1;
    }
  }
  return { rawHeaders, problem, hasBlanks };
}
