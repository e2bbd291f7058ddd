import type { ApiResult } from '../api/executable-api.ts';
import { ERROR_CODES, type GraphQLErrorCode } from '../error-codes.ts';
import { isRefusal, refusal, type Refusal } from '../api/refusal.ts';

/** One request of a client, as GraphQL over HTTP has it. */
export interface GraphQLRequest {
  /** Missing where a persisted query is named by its hash. */
  readonly query?: string;
  readonly operationName?: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Media types of results, the preferred one first. */
export const RESPONSE_TYPES = ['application/graphql-response+json', 'application/json'] as const;
export type ResponseType = (typeof RESPONSE_TYPES)[number];

/** How a client wants its result. */
export interface Wanted {
  readonly type: ResponseType;
  /**
   * The client asked for `application/json` by name. Then a request that reached the schema answers 200 whatever is wrong
   * with it, as clients of that type expect (GraphQL over HTTP, section 6.4.1).
   */
  readonly lenient: boolean;
}

/**
 * Chooses the media type by `Accept`: the first acceptable one with the highest quality. Without the header, and for
 * wildcards, `application/json`. `undefined` when nothing fits.
 */
export function wantedType(accept: string | undefined): Wanted | undefined {
  if (accept === undefined || accept.trim() === '') return { type: 'application/json', lenient: false };
  let best: Wanted | undefined;
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

function rangeType(range: string): Wanted | undefined {
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

/** Codes of requests that were understood as HTTP and JSON, so that lenient clients get their answer with 200. */
const UNDERSTOOD: ReadonlySet<GraphQLErrorCode> = new Set([
  'ERR_GRAPHQL_DOCUMENT',
  'ERR_GRAPHQL_VARIABLES',
  'ERR_GRAPHQL_PERSISTED_QUERY_NOT_FOUND',
]);

/** The HTTP status of a refusal for this client. */
export function statusOf({ code }: Refusal, { lenient }: Wanted): number {
  return lenient && UNDERSTOOD.has(code) ? 200 : ERROR_CODES[code].status;
}

/** A result as JSON text, with its fields in the order the specification recommends. */
export function serialize({ data, errors, extensions }: ApiResult): string {
  return JSON.stringify(errors && errors.length > 0 ? { errors, data, extensions } : { data, extensions });
}

/** True for the content types of a GraphQL request. What a form can send without asking (CSRF) is not among them. */
export function isRequestType(header: string | undefined): boolean {
  if (header === 'application/json') return true;
  const [type = '', ...parameters] = (header ?? '')
    .toLowerCase()
    .split(';')
    .map((each) => each.trim());
  return type === 'application/json' && isUtf8(parameters);
}

/** The request in a query string. */
export function requestFromQuery(path: string): GraphQLRequest | Refusal {
  const cut = path.indexOf('?');
  const params = new URLSearchParams(cut < 0 ? '' : path.slice(cut + 1));
  const body: Record<string, unknown> = {};
  for (const name of ['query', 'operationName', 'variables', 'extensions']) {
    const [value, another] = params.getAll(name);
    if (another !== undefined) return refusal('ERR_GRAPHQL_BODY', `The parameter ${name} is given twice.`);
    if (value !== undefined) body[name] = value;
  }
  for (const name of ['variables', 'extensions'] as const) {
    if (typeof body[name] !== 'string') continue;
    if (isDeeperThan(body[name], MAX_JSON_DEPTH)) {
      return refusal('ERR_GRAPHQL_BODY', `The parameter ${name} is nested too deep.`);
    }
    const parsed = parseJson(body[name]);
    if (parsed === undefined) return refusal('ERR_GRAPHQL_BODY', `The parameter ${name} is not JSON.`);
    body[name] = parsed.value;
  }
  return requestFromJson(body);
}

/** Deepest nesting of a body. */
export const MAX_JSON_DEPTH = 64;

/** What a body asks for: one operation, or a batch of them. */
export type Posted = GraphQLRequest | readonly GraphQLRequest[];

/** How a body is refused that is nested deeper than {@link MAX_JSON_DEPTH}. */
export function tooDeep(): Refusal {
  return refusal('ERR_GRAPHQL_BODY', 'The body is nested too deep.');
}

/** Reads a body. `maxBatch` is the most operations in it; 0 allows no batch. */
export function postedText(text: string, maxBatch: number): Posted | Refusal {
  if (isDeeperThan(text, MAX_JSON_DEPTH)) return tooDeep();
  const parsed = parseJson(text);
  return parsed ? postedValue(parsed.value, maxBatch) : refusal('ERR_GRAPHQL_BODY');
}

/** The same for a body that was parsed already. */
export function postedValue(value: unknown, maxBatch: number): Posted | Refusal {
  if (!Array.isArray(value)) return requestFromJson(value);
  if (maxBatch === 0) return refusal('ERR_GRAPHQL_BATCH', 'Batches are not allowed here.');
  if (value.length === 0 || value.length > maxBatch) {
    return refusal('ERR_GRAPHQL_BATCH', `A batch has 1 to ${maxBatch} operations.`);
  }
  const requests: GraphQLRequest[] = [];
  for (const one of value) {
    const request = requestFromJson(one);
    if (isRefusal(request)) return request;
    requests.push(request);
  }
  return requests;
}

function requestFromJson(body: unknown): GraphQLRequest | Refusal {
  if (!isRecord(body)) return refusal('ERR_GRAPHQL_BODY');
  const { query, operationName, variables, extensions } = body;
  if (query !== undefined && typeof query !== 'string') return refusal('ERR_GRAPHQL_BODY', 'query has to be text.');
  if (!isAbsent(operationName) && typeof operationName !== 'string') {
    return refusal('ERR_GRAPHQL_BODY', 'operationName has to be text.');
  }
  if (!isAbsent(variables) && !isRecord(variables)) {
    return refusal('ERR_GRAPHQL_BODY', 'variables have to be an object.');
  }
  if (!isAbsent(extensions) && !isRecord(extensions)) {
    return refusal('ERR_GRAPHQL_BODY', 'extensions have to be an object.');
  }
  return {
    ...(query !== undefined && { query }),
    ...(typeof operationName === 'string' && { operationName }),
    variables: isRecord(variables) ? variables : {},
    extensions: isRecord(extensions) ? extensions : {},
  };
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Counts brackets outside of texts, so that deep input is refused before anything recursive sees it. */
export function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inText) {
      if (code === 92) i++;
      else if (code === 34) inText = false;
    } else if (code === 34) inText = true;
    else if (code === 123 || code === 91) {
      if (++depth > limit) return true;
    } else if (code === 125 || code === 93) depth--;
  }
  return false;
}
