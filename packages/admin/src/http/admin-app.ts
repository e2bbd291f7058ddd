import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express';
import { GatewayError, readBody, type Logger } from '@edge-gateway/core';
import { adminError } from '../error-codes.ts';
import { requireToken, SIGN_IN_PATH, SIGN_OUT_PATH, signInHandler, signOutHandler } from './access.ts';
import type { AdminToken } from './admin-token.ts';
import { send, type EndpointResponse } from './endpoint-response.ts';
import type { Endpoint } from './endpoint.ts';
import { guard } from './guard.ts';

/** Options of {@link createAdminApp}. */
export interface AdminAppOptions {
  readonly endpoints: readonly Endpoint[];
  readonly log: Logger;
  /** Names that the Host header may have, in addition to `localhost` and IP addresses. */
  readonly allowedHosts: readonly string[] | 'any' | undefined;
  /** Largest body in bytes. Default: bodies are not read. */
  readonly maxBodyBytes?: number;
  /** Methods of requests that change nothing. Default: GET and HEAD. */
  readonly readMethods?: readonly string[];
  /** Headers of every response. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Handlers of other paths, which read bodies themselves. Default: none. */
  readonly routers?: Readonly<Record<string, RequestHandler>>;
  /** The required token. Default: no authentication. */
  readonly token?: AdminToken | undefined;
  /** Default: `{code, message}` in JSON. */
  readonly errorResponse?: (error: GatewayError) => EndpointResponse;
  /** Default: `ERR_ADMIN_NOT_FOUND`. */
  readonly notFound?: () => EndpointResponse;
  /** Returns the page for a browser at an unknown path; `undefined` for `notFound`. Default: `notFound` responds to browsers too. */
  readonly unknownPage?: (req: Request) => EndpointResponse | undefined;
  /** Default: `ERR_ADMIN_METHOD_NOT_ALLOWED`. */
  readonly wrongMethod?: (method: string, allowed: readonly string[]) => EndpointResponse;
}

/** Largest form of an endpoint that reads forms. */
const MAX_FORM_BYTES = 32_768;

/** Creates the application of one admin port, behind its {@link guard}. */
export function createAdminApp(options: AdminAppOptions): Express {
  const {
    endpoints,
    log,
    allowedHosts,
    maxBodyBytes,
    headers = {},
    routers = {},
    notFound,
    unknownPage,
    token,
  } = options;
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.enable('strict routing').enable('case sensitive routing');
  app.set('query parser', false);
  app.use((_req, res, next) => {
    res.set(headers);
    next();
  });
  app.use(guard(allowedHosts));
  if (token) {
    app.post(SIGN_IN_PATH, bodyReader(MAX_FORM_BYTES), signInHandler(token));
    app.post(SIGN_OUT_PATH, signOutHandler);
    app.use(requireToken(token));
  }
  for (const [path, router] of Object.entries(routers)) app.use(path, router);
  const forms = endpoints.flatMap(({ paths, readsForms }) => (readsForms ? paths : []));
  if (forms.length > 0) app.post(forms, bodyReader(MAX_FORM_BYTES));
  if (maxBodyBytes !== undefined) app.use(bodyReader(maxBodyBytes));
  for (const endpoint of endpoints) app.all([...endpoint.paths], handlerOf(endpoint, options));
  app.use((req, res) => {
    const page = unknownPage?.(req);
    if (page) return send(res, page);
    if (!notFound) throw adminError('ERR_ADMIN_NOT_FOUND');
    return send(res, notFound());
  });
  app.use(errorHandler(log, options.errorResponse ?? errorAsJson));
  return app;
}

function handlerOf(
  endpoint: Endpoint,
  { readMethods = ['GET', 'HEAD'], wrongMethod }: AdminAppOptions,
): RequestHandler<Record<string, string>> {
  return async function adminEndpoint(req, res) {
    const parameters = parametersOf(req, endpoint);
    const extra = [...(endpoint.put ? ['PUT'] : []), ...(endpoint.readsForms ? ['POST'] : [])];
    const readOrPut = [...readMethods, ...extra.filter((method) => !readMethods.includes(method))];
    const allowed = endpoint.changes?.(parameters) ? ['POST'] : readOrPut;
    if (allowed.includes(req.method)) {
      const respond = req.method === 'PUT' ? endpoint.put!(parseJson(req.body)) : endpoint.respond(parameters, req);
      return send(res, await respond);
    }
    res.setHeader('allow', allowed.join(', '));
    if (!wrongMethod) throw adminError('ERR_ADMIN_METHOD_NOT_ALLOWED');
    return send(res, wrongMethod(req.method, allowed));
  };
}

/** Returns the parameters of the query, then those of a form. A form sends its empty fields as well, which count only as flags. */
function parametersOf(req: Request, { parameters: known = [] }: Endpoint): URLSearchParams {
  const query = req.url.indexOf('?');
  const parameters = new URLSearchParams(query < 0 ? '' : req.url.slice(query + 1));
  if (req.is('application/x-www-form-urlencoded') && typeof req.body === 'string') {
    for (const [name, value] of new URLSearchParams(req.body)) if (value !== '') parameters.append(name, value);
  }
  for (const { name, flag } of known) if (!flag) parameters.delete(name, '');
  return parameters;
}

function parseJson(text: unknown): unknown {
  if (typeof text !== 'string' || text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw adminError('ERR_ADMIN_BAD_BODY', undefined, { cause });
  }
}

/** The connection is of no use when a body was not read. */
const CLOSE = { headers: { connection: 'close' } };

/**
 * Reads bodies into `req.body`, as text. Unlike the body parsers of Express it does not wait for the rest of one that is too
 * large. Errors: `ERR_ADMIN_BODY_TOO_LARGE`, `ERR_ADMIN_ENCODING_REFUSED`.
 */
function bodyReader(maxBytes: number): RequestHandler {
  return async function adminReadBody(req, _res, next) {
    if (typeof req.body === 'string') return next();
    const { 'content-encoding': encoding = 'identity' } = req.headers;
    if (encoding.toLowerCase() !== 'identity') throw adminError('ERR_ADMIN_ENCODING_REFUSED', undefined, CLOSE);
    const bytes = await readBody(req, maxBytes).catch(() => 'aborted' as const);
    if (bytes === 'aborted') return;
    if (!bytes) throw adminError('ERR_ADMIN_BODY_TOO_LARGE', undefined, CLOSE);
    req.body = bytes.toString('utf8');
    next();
  };
}

function errorAsJson({ code, message }: GatewayError): EndpointResponse {
  return { type: 'json', body: JSON.stringify({ code, message }) };
}

function errorHandler(log: Logger, render: (error: GatewayError) => EndpointResponse): ErrorRequestHandler {
  return function adminErrorHandler(thrown: unknown, req, res, next) {
    const error = toGatewayError(thrown);
    // A limit is not a failure of this process: a stack trace would not help.
    if (error.status === 503) log.warn({ code: error.code, path: req.path }, 'admin request rejected');
    else if (error.status >= 500) log.error({ err: error.cause ?? error, path: req.path }, 'admin request failed');
    if (res.headersSent) return next(thrown);
    return send(res, { status: error.status, headers: error.headers, ...render(error) });
  };
}

function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const { status = 500 } = (error ?? {}) as { status?: number };
  return adminError(status < 500 ? 'ERR_ADMIN_BAD_REQUEST' : 'ERR_ADMIN_INTERNAL', undefined, { cause: error });
}
