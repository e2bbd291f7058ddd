import type { IncomingMessage, ServerResponse } from 'node:http';
import { listenHttpServer, type ListeningServer, type Logger, type Metrics, type ServerTls } from '@edge-gateway/core';
import { createPendingBodies } from './pending-bodies.ts';
import { readReview, reviewOf, type AdmissionRequest } from './admission-review.ts';
import { NotReadyError, validateAdmission, type AdmissionOutcome, type AdmissionTarget } from './validate-admission.ts';

/** Options of {@link startAdmissionServer}. */
export interface AdmissionServerOptions {
  readonly target: AdmissionTarget;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly address: string;
  /** 0 is any free port. */
  readonly port: number;
  readonly tls: ServerTls;
}

/** Where the API server sends its reviews. */
const VALIDATION_PATH = '/validation';
/** An object has at most 3 MiB in a request to the API server; a review has two of them. */
const MAX_REVIEW_BYTES = 16 * 2 ** 20;
/** Received bytes of all reviews that are read at the same time. */
const MAX_PENDING_BYTES = 128 * 2 ** 20;
const MAX_HEADER_BYTES = 16_384;
/** Longest text in a log line: names and values come from a request. */
const MAX_LOGGED = 8_192;

/**
 * Starts the HTTPS server of the validating admission webhook. Rejects with the error of the socket if it cannot listen.
 *
 * @example
 * const server = await startAdmissionServer({ target, log, metrics, address: '0.0.0.0', port: 8443, tls });
 */
export async function startAdmissionServer(options: AdmissionServerOptions): Promise<ListeningServer> {
  const { target, log, address, port, tls } = options;
  const count = reviewCounters(options.metrics);
  const pending = createPendingBodies(MAX_PENDING_BYTES);

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const problem = requestProblem(req);
    if (problem) return reject(res, ...problem);
    const body = await pending.read(req, MAX_REVIEW_BYTES);
    if (!body) return reject(res, 413, `a review has at most ${MAX_REVIEW_BYTES} bytes`);
    const request = readReview(body.toString());
    if (typeof request === 'string') return reject(res, 400, request);
    respond(res, 200, JSON.stringify(await review(request)), 'application/json');
  }

  async function review(request: AdmissionRequest): Promise<object> {
    const admission = await validateAdmission(request, target);
    const { outcome, rejection, warnings = [], omittedWarnings = 0 } = admission;
    count[outcome].value++;
    if (outcome !== 'skipped') {
      const { operation, kind, namespace, name, object } = request;
      const resource = `${kind.kind} ${namespace ?? ''}/${name || (object?.metadata.name ?? '')}`;
      const facts = { operation, resource: resource.slice(0, MAX_LOGGED) };
      const problems = warnings.length + omittedWarnings;
      if (rejection)
        log.info({ ...facts, reason: rejection.message.slice(0, MAX_LOGGED) }, 'change rejected by validation');
      else if (problems > 0) log.info({ ...facts, problems }, 'change admitted with problems');
    }
    return reviewOf(request, admission);
  }

  const listener = (req: IncomingMessage, res: ServerResponse): void => {
    handle(req, res).catch((error: unknown) => {
      if (res.headersSent || !req.socket.writable) return void req.destroy();
      if (error instanceof NotReadyError) return reject(res, 503, error.message);
      // Too deep for the stack, which the API server would not have accepted either.
      if (error instanceof RangeError) return reject(res, 400, 'the review cannot be read: it is nested too deeply');
      log.error({ reason: (error as Error).message }, 'failed to validate a change');
      return reject(res, 500, 'failed to validate the change');
    });
  };
  return listenHttpServer(listener, { address, port, tls, maxHeaderSize: MAX_HEADER_BYTES });
}

/** Returns the status and the text for a request that is not a review. */
function requestProblem({ url = '', method, headers }: IncomingMessage): readonly [number, string] | undefined {
  if (url.split('?', 1)[0] !== VALIDATION_PATH) return [404, `reviews are sent to ${VALIDATION_PATH}`];
  if (method !== 'POST') return [405, 'a review is sent with POST'];
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'application/json') return [400, 'the content type must be application/json'];
  return undefined;
}

function reject(res: ServerResponse, status: number, reason: string): void {
  // What is left of a body is not read.
  res.setHeader('connection', 'close');
  respond(res, status, `${reason}\n`, 'text/plain; charset=utf-8');
}

function respond(res: ServerResponse, status: number, text: string, contentType: string): void {
  res.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(text) });
  res.end(text);
}

function reviewCounters(metrics: Metrics) {
  const counter = (outcome: AdmissionOutcome) =>
    metrics.counter({
      path: `validation.gateway.vendor.io/reviews.${outcome}`,
      metric: 'validation_gateway_vendor_io_reviews',
      labels: { outcome },
    });
  return { skipped: counter('skipped'), allowed: counter('allowed'), rejected: counter('rejected') };
}
