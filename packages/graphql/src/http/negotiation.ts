import type { ServerResponse } from 'node:http';
import type { Refusal } from '../errors/refusal.ts';
import { ERROR_CODES, type GraphQLErrorCode } from '../error-codes.ts';

/** The wanted form of a result. */
export interface NegotiatedType {
  readonly type: 'application/graphql-response+json' | 'application/json';
  /** True if `application/json` is accepted by name: invalid documents then get 200 (GraphQL over HTTP, section 6.4.1). */
  readonly lenient: boolean;
}

/** Chooses the first acceptable media type of the highest quality; `application/json` for wildcards and by default. */
export function wantedType(accept: string | undefined): NegotiatedType | undefined {
  if (accept === undefined || accept.trim() === '') return { type: 'application/json', lenient: false };
  let best: NegotiatedType | undefined;
  let bestQuality = 0;
  for (const part of accept.toLowerCase().split(',', 64)) {
    const [range = '', ...parameters] = part.split(';').map((each) => each.trim());
    const quality = qualityOf(parameters);
    const wanted = rangeType(range);
    if (!wanted || quality <= bestQuality || !isUtf8(parameters)) continue;
    best = wanted;
    bestQuality = quality;
  }
  return best;
}

function rangeType(range: string): NegotiatedType | undefined {
  if (range === 'application/json') return { type: range, lenient: true };
  if (range === 'application/graphql-response+json') return { type: range, lenient: false };
  return range === '*/*' || range === 'application/*' ? { type: 'application/json', lenient: false } : undefined;
}

function qualityOf(parameters: readonly string[]): number {
  const written = parameters.find((each) => each.startsWith('q='))?.slice(2);
  const quality = written === undefined ? 1 : Number(written);
  return quality >= 0 && quality <= 1 ? quality : 0;
}

function isUtf8(parameters: readonly string[]): boolean {
  const charset = parameters.find((each) => each.startsWith('charset='))?.slice('charset='.length);
  return charset === undefined || /^"?utf-?8"?$/.test(charset);
}

/** Codes of requests that are valid HTTP and JSON, so that lenient clients get 200. */
const UNDERSTOOD: ReadonlySet<GraphQLErrorCode> = new Set([
  'ERR_GRAPHQL_DOCUMENT',
  'ERR_GRAPHQL_VARIABLES',
  'ERR_GRAPHQL_PERSISTED_QUERY_NOT_FOUND',
]);

/** Returns the HTTP status of a refusal for this client. */
export function statusOf({ code }: Refusal, { lenient }: NegotiatedType): number {
  return lenient && UNDERSTOOD.has(code) ? 200 : ERROR_CODES[code].status;
}

/** Returns true for the content types of a GraphQL request. Forms cannot send them without a preflight (CSRF). */
export function isRequestType(header: string | undefined): boolean {
  if (header === 'application/json') return true;
  const [type = '', ...parameters] = (header ?? '')
    .toLowerCase()
    .split(';')
    .map((each) => each.trim());
  return type === 'application/json' && isUtf8(parameters);
}

/** Returns `Vary` of a negotiated response, with the values that earlier middleware has set. */
export function varyByAccept(res: ServerResponse): string {
  const set = [res.getHeader('vary') ?? []].flat().map(String);
  return set.some((value) => /(^|,)\s*(\*|accept)\s*(,|$)/i.test(value))
    ? set.join(', ')
    : [...set, 'Accept'].join(', ');
}
