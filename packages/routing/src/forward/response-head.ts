import { isHopByHop, namedByConnection } from './hop-by-hop.ts';

/** A response head as it can go to the client. */
export interface ResponseHead {
  /** Flat, without hop-by-hop headers and those that `Connection` names. */
  readonly headers: string[];
  /** False when the body goes on until the connection closes. */
  readonly framed: boolean;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// oxlint-disable-next-line no-control-regex -- these are what a value must not have
const FORBIDDEN = /[\0-\x08\x0a-\x1f\x7f]/;
const DIGITS = /^\d{1,15}$/;

/**
 * Reads the head of a final response from the pairs the parser found. Throws an `Error` that says what is wrong where
 * the parser is more lenient than RFC 9112: odd names and values, doubled or odd framing.
 */
export function readResponseHead(raw: readonly Buffer[], status: number): ResponseHead {
  const headers: string[] = [];
  let named: string[] | undefined;
  let length: string | undefined;
  let coding: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toString('latin1');
    const value = raw[i + 1]!.toString('latin1');
    if (!TOKEN.test(name)) throw new Error('a header name is not a token');
    if (FORBIDDEN.test(value)) throw new Error(`the value of ${name} has a control character`);
    if (name.length === 14 && name.toLowerCase() === 'content-length') {
      if (length !== undefined || !DIGITS.test(value)) throw new Error('content-length is doubled or not a number');
      length = value;
      if (status !== 204) headers.push(name, value);
    } else if (isHopByHop(name)) {
      const lower = name.toLowerCase();
      if (lower === 'connection') named = [...(named ?? []), ...namedByConnection(value)];
      if (lower === 'transfer-encoding') coding = coding === undefined ? value : `${coding},${value}`;
    } else {
      headers.push(name, value);
    }
  }
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    throw new Error('its transfer-encoding is not chunked');
  if (coding !== undefined && length !== undefined) throw new Error('it has both content-length and transfer-encoding');
  return { headers: named ? without(headers, named) : headers, framed: length !== undefined || coding !== undefined };
}

function without(headers: readonly string[], names: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const lower = headers[i]!.toLowerCase();
    if (lower === 'content-length' || !names.includes(lower)) kept.push(headers[i]!, headers[i + 1]!);
  }
  return kept;
}
