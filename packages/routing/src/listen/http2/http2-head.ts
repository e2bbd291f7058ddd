import { refusal, type Refusal } from '../../check/refusal.ts';
import { trimmedValue } from '../../http1/field-value.ts';

/** The head of an HTTP/2 request in the form of an HTTP/1.1 head. */
export interface Http2Head {
  readonly method: string;
  readonly url: string;
  /** Flat `[name, value, …]` without pseudo-header fields. */
  readonly rawHeaders: string[];
  /** Value of `:protocol` (RFC 8441). */
  readonly protocol: string | undefined;
  /** Set if the head contradicts itself. */
  readonly problem: Refusal | undefined;
}

const COLON = 58;

/**
 * Returns the headers of a header list, with `authority` as host. The parts of a cookie are joined (RFC 9113 8.2.3, 8.3.1), and values
 * are trimmed.
 */
export function joinFields(
  raw: readonly string[],
  authority: string | undefined,
): Pick<Http2Head, 'rawHeaders' | 'problem'> {
  const rawHeaders: string[] = authority === undefined ? [] : ['host', authority];
  let cookieAt = 0;
  let hosts = 0;
  let problem: Refusal | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    if (name.charCodeAt(0) === COLON) continue;
    const value = trimmedValue(raw[i + 1]!);
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
  return { rawHeaders, problem };
}
