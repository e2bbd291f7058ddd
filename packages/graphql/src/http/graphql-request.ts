import { parseJson as parseExact } from '@edge-gateway/core';
import { isRecord, isTextDeeper, MAX_REQUEST_DEPTH } from '../document/json.ts';
import { isRefusal, refusal, type Refusal } from '../errors/refusal.ts';

/** One request as defined by GraphQL over HTTP. */
export interface GraphQLRequest {
  /** Missing if a hash names a persisted query. */
  readonly query?: string;
  readonly operationName?: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Returns the request in a query string. */
export function requestFromQuery(path: string): GraphQLRequest | Refusal {
  const cut = path.indexOf('?');
  const params = new URLSearchParams(cut < 0 ? '' : path.slice(cut + 1));
  const body: Record<string, unknown> = {};
  for (const name of ['query', 'operationName', 'variables', 'extensions']) {
    const [value, another] = params.getAll(name);
    if (another !== undefined) return refusal('ERR_GRAPHQL_BODY', `The parameter ${name} must not be repeated.`);
    if (value !== undefined) body[name] = value;
  }
  for (const name of ['variables', 'extensions'] as const) {
    if (typeof body[name] !== 'string') continue;
    if (isTextDeeper(body[name], MAX_REQUEST_DEPTH)) {
      return refusal('ERR_GRAPHQL_BODY', `The parameter ${name} is nested too deeply.`);
    }
    const parsed = parseJson(body[name]);
    if (parsed === undefined) return refusal('ERR_GRAPHQL_BODY', `The parameter ${name} is not JSON.`);
    body[name] = parsed.value;
  }
  return requestFromJson(body);
}

/** The requests of a body: one or a batch. */
export type RequestBody = GraphQLRequest | readonly GraphQLRequest[];

/** Creates the refusal of a body that is nested deeper than {@link MAX_REQUEST_DEPTH}. */
export function tooDeep(): Refusal {
  return refusal('ERR_GRAPHQL_BODY', 'The body is nested too deeply.');
}

/** Reads a body. `maxBatch` is the maximum number of operations; 0 disables batches. */
export function postedText(text: string, maxBatch: number): RequestBody | Refusal {
  if (isTextDeeper(text, MAX_REQUEST_DEPTH)) return tooDeep();
  const parsed = parseJson(text);
  return parsed ? postedValue(parsed.value, maxBatch) : refusal('ERR_GRAPHQL_BODY');
}

/** Reads a body that was parsed by earlier middleware. */
export function postedValue(value: unknown, maxBatch: number): RequestBody | Refusal {
  if (!Array.isArray(value)) return requestFromJson(value);
  if (maxBatch === 0) return refusal('ERR_GRAPHQL_BATCH', 'Batches are not allowed.');
  if (value.length === 0 || value.length > maxBatch) {
    return refusal('ERR_GRAPHQL_BATCH', `A batch must have 1 to ${maxBatch} operations.`);
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
  if (query !== undefined && typeof query !== 'string') return refusal('ERR_GRAPHQL_BODY', 'query must be a string.');
  if (typeof (operationName ?? '') !== 'string') return refusal('ERR_GRAPHQL_BODY', 'operationName must be a string.');
  for (const [name, value] of Object.entries({ variables, extensions })) {
    if (!isRecord(value ?? {})) return refusal('ERR_GRAPHQL_BODY', `${name} must be an object.`);
  }
  return {
    query,
    operationName: operationName ?? undefined,
    variables: variables ?? {},
    extensions: extensions ?? {},
  } as GraphQLRequest;
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseExact(text) };
  } catch {
    return undefined;
  }
}
