import { isRecord, isTextDeeper, MAX_REQUEST_DEPTH } from '../api/json.ts';
import { isRefusal, refusal, type Refusal } from '../api/refusal.ts';

/** One request of a client, as GraphQL over HTTP has it. */
export interface GraphQLRequest {
  /** Missing where a persisted query is named by its hash. */
  readonly query?: string;
  readonly operationName?: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: Readonly<Record<string, unknown>>;
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
    if (isTextDeeper(body[name], MAX_REQUEST_DEPTH)) {
      return refusal('ERR_GRAPHQL_BODY', `The parameter ${name} is nested too deep.`);
    }
    const parsed = parseJson(body[name]);
    if (parsed === undefined) return refusal('ERR_GRAPHQL_BODY', `The parameter ${name} is not JSON.`);
    body[name] = parsed.value;
  }
  return requestFromJson(body);
}

/** What a body asks for: one operation, or a batch of them. */
export type Posted = GraphQLRequest | readonly GraphQLRequest[];

/** How a body is refused that is nested deeper than {@link MAX_REQUEST_DEPTH}. */
export function tooDeep(): Refusal {
  return refusal('ERR_GRAPHQL_BODY', 'The body is nested too deep.');
}

/** Reads a body. `maxBatch` is the most operations in it; 0 allows no batch. */
export function postedText(text: string, maxBatch: number): Posted | Refusal {
  if (isTextDeeper(text, MAX_REQUEST_DEPTH)) return tooDeep();
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

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
