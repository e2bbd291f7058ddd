import type { IncomingMessage } from 'node:http';
import {
  factsOf,
  GatewayError,
  readBody,
  type ActionExchange,
  type Context,
  type Facts,
  type Handler,
  type Next,
  type Responder,
  startTimer,
} from '@edge-gateway/core';
import { createAnswerer, type Answer, type OperationInput, type ServedApi } from '../http/answer.ts';
import { isDeeper, MAX_REQUEST_DEPTH } from '../document/json.ts';
import { ERROR_CODES } from '../error-codes.ts';
import {
  requestFromQuery,
  postedText,
  postedValue,
  tooDeep,
  type GraphQLRequest,
  type RequestBody,
} from '../http/graphql-request.ts';
import { carriesIdentity } from '../http/identity.ts';
import type { Limits } from '../document/limits.ts';
import { isRequestType, varyByAccept, wantedType, type NegotiatedType } from '../http/negotiation.ts';
import { isRefusal, refusal, type Refusal } from '../errors/refusal.ts';
import { isPageRequest, sendPage } from './browser-page.ts';
import { createDrain } from './drain.ts';
import { sendEvents, startEvents, wantsEvents } from './send-events.ts';
import { createSlots, type Slots } from './slots.ts';
import type { SocketParts } from './serve-socket.ts';
import { createSocketServer } from './socket-server.ts';

/** Form of the error for a client that accepts neither media type. */
const FALLBACK: NegotiatedType = { type: 'application/json', lenient: false };

/** Creates the responder of one API, which closes with it. */
export function createResponder(served: ServedApi, context: Context): Responder {
  const { api, limits, spec } = served;
  const { now } = context;
  const answerer = createAnswerer(served, context);
  const slots = createSlots(limits.maxConnections);
  const drain = createDrain();
  const { allowedOrigins = [] } = spec.options ?? {};
  const sockets = createSocketServer({ answerer, limits, allowedOrigins, slots, drain, now });
  const responder: Responder = function graphql(exchange: ActionExchange, next: Next): void {
    const { req, res } = exchange;
    const over = new AbortController();
    const timer = startTimer(() => over.abort(), limits.operationTimeoutMs);
    res.once('close', () => {
      clearTimeout(timer);
      // Aborting is expensive, and after the response there is nothing to abort.
      if (!res.writableFinished) over.abort();
    });
    const page = (): Promise<void> => sendPage(exchange, api, served.explorer === true);
    const means = {
      page,
      answerer,
      limits,
      slots,
      drain,
      now,
      signal: over.signal,
      unlimited: () => clearTimeout(timer),
    };
    respond(exchange, means).catch((error: unknown) => {
      if (res.headersSent) res.destroy();
      // A request that was read to its end is destroyed, too; otherwise it means that the client disconnected.
      else if (!res.destroyed && (req.complete || !req.destroyed)) next(error);
    });
  };
  responder.upgrade = sockets.upgrade;
  responder.drain = drain.begin;
  responder.close = async () => {
    sockets.close();
    await api.close?.();
  };
  return responder;
}

/** Returns a responder as a handler of a server. */
export function handlerOf(responder: Responder): Handler {
  return function graphqlApi(req, res, next) {
    responder({ req, res, writeHead: (status, headers) => void res.writeHead(status, [...headers]) }, next);
  };
}

interface ResponderParts extends SocketParts {
  /** Responds to a browser. */
  page(): Promise<void>;
  readonly slots: Slots;
  readonly signal: AbortSignal;
  unlimited(): void;
}

async function respond(exchange: ActionExchange, means: ResponderParts): Promise<void> {
  const { req } = exchange;
  const { answerer, limits, signal } = means;
  const facts = factsOf(req);
  if (isPageRequest(req, facts)) return means.page();
  const wanted = wantedType(facts.header('accept'));
  const write = (answer: Answer): void => send(exchange, answer, wanted ?? FALLBACK);
  const events = wantsEvents(facts.header('accept'));
  if (!wanted && !events) return write(answerer.refuse(refusal('ERR_GRAPHQL_NOT_ACCEPTABLE'), FALLBACK));
  const posted = await postedBy(req, facts, limits);
  if (isRefusal(posted)) return write(answerer.refuse(posted, wanted ?? FALLBACK));
  const method = req.method ?? 'POST';
  const personal = exchange.guarded === true || carriesIdentity(req, facts);
  const asked = { wanted: wanted ?? FALLBACK, facts, method, signal, personal, retries: exchange.retries };
  if (events && !isBatch(posted)) {
    const serve = method === 'HEAD' ? announce : stream;
    const refused = await serve(exchange, means, { ...asked, request: posted });
    return refused && write(answerer.refuse(refused, FALLBACK));
  }
  if (!isBatch(posted)) return write(await answerer.answer({ ...asked, request: posted }));
  const batch = posted.map((request) => ({ ...asked, request }));
  const answers = await answerer.answerBatch(batch, facts);
  write({ status: 200, body: `[${answers.map(({ body }) => body).join(',')}]`, headers: [] });
}

/** Responds to a HEAD request for an event stream: only the head, without executing the operation. */
async function announce(
  exchange: ActionExchange,
  { answerer }: ResponderParts,
  asked: OperationInput,
): Promise<Refusal | undefined> {
  const request = await answerer.request(asked);
  if (isRefusal(request)) return request;
  startEvents(exchange);
  exchange.res.end();
  return undefined;
}

async function stream(
  exchange: ActionExchange,
  means: ResponderParts,
  asked: OperationInput,
): Promise<Refusal | undefined> {
  const { answerer, limits, slots, drain, now } = means;
  if (!slots.acquire()) return refusal('ERR_GRAPHQL_CONNECTIONS');
  try {
    const results = await answerer.subscribe(asked);
    if (isRefusal(results)) return results;
    means.unlimited();
    await sendEvents(exchange, results, { limits, drain, now });
    return undefined;
  } finally {
    slots.release();
  }
}

function isBatch(posted: RequestBody): posted is readonly GraphQLRequest[] {
  return Array.isArray(posted);
}

async function postedBy(req: IncomingMessage, facts: Facts, limits: Limits): Promise<RequestBody | Refusal> {
  if (req.method === 'GET' || req.method === 'HEAD') {
    if (facts.path.length > limits.maxBodyBytes) return refusal('ERR_GRAPHQL_BODY_TOO_LARGE');
    return requestFromQuery(facts.path);
  }
  if (req.method !== 'POST') return refusal('ERR_GRAPHQL_METHOD', '', { allow: 'GET, HEAD, POST' });
  if (!isRequestType(req.headers['content-type'])) return refusal('ERR_GRAPHQL_CONTENT_TYPE');
  if ((req.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    return refusal('ERR_GRAPHQL_CONTENT_TYPE', 'The body must not have a content-encoding.');
  }
  if (req.readableDidRead || req.readableEnded) return parsedBefore(req, limits);
  const text = await readText(req, limits.maxBodyBytes);
  return typeof text === 'string' ? postedText(text, limits.maxBatchSize) : text;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Reads a body of at most `maxBytes` as text. Rejects if the client closes the connection before the end. */
async function readText(req: IncomingMessage, maxBytes: number): Promise<string | Refusal> {
  const bytes = await readBody(req, maxBytes);
  if (!bytes) return refusal('ERR_GRAPHQL_BODY_TOO_LARGE');
  try {
    return decoder.decode(bytes);
  } catch {
    return refusal('ERR_GRAPHQL_BODY', 'The body is not UTF-8.');
  }
}

/** Reads a body that earlier middleware has parsed. */
function parsedBefore(req: IncomingMessage, { maxBatchSize }: Limits): RequestBody | Refusal {
  const { body } = req as { readonly body?: unknown };
  if (body === undefined) {
    const { status, message } = ERROR_CODES.ERR_GRAPHQL_BODY_CONSUMED;
    throw new GatewayError(message, { code: 'ERR_GRAPHQL_BODY_CONSUMED', status });
  }
  if (Buffer.isBuffer(body)) return postedText(body.toString('utf8'), maxBatchSize);
  if (typeof body === 'string') return postedText(body, maxBatchSize);
  if (typeof body === 'object' && body !== null && isDeeper(body, MAX_REQUEST_DEPTH)) return tooDeep();
  return postedValue(body, maxBatchSize);
}

function send({ req, res, writeHead }: ActionExchange, answer: Answer, { type }: NegotiatedType): void {
  if (res.headersSent || res.destroyed) return;
  writeHead(answer.status, [
    'content-type',
    `${type}; charset=utf-8`,
    'vary',
    varyByAccept(res),
    'content-length',
    String(Buffer.byteLength(answer.body)),
    ...answer.headers,
  ]);
  if (req.method === 'HEAD') res.end();
  else res.end(answer.body);
}
