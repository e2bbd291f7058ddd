import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  applyHeaderChanges,
  factsOf,
  hasBody,
  listenHttpServer,
  peekBody,
  type HeaderChange,
  type ListeningServer,
  type ReplyBody,
} from '@edge-gateway/core';
import { clientError, clientStatusOf } from '../chain/failure.ts';
import { isFraming } from '../chain/grants.ts';
import { INTENDED_STATUS_HEADER } from '../grpc/protocol.ts';
import { authRequestOf } from '../request/auth-request.ts';
import { rejection, type AuthService } from './auth-service.ts';
import type { ListenOptions } from './listen-options.ts';
import type { Grant, Verdict } from './verdict.ts';

const MAX_HEADER_BYTES = 65_536;
/** `/check/<namespace>.<name>`, before the path of the request. */
const PREFIX = /^\/check\/([^/?#]+)(\/.*)$/s;
/** The response header from which Envoy reads the request headers to remove. */
const TO_REMOVE = 'x-envoy-auth-headers-to-remove';

/**
 * Serves checks over HTTP/1.1, as the `http_service` of Envoy's `ext_authz` sends them: method, host, headers and path of the request, the path after
 * `/check/<namespace>.<name>`. 200 allows the request. Rejects with the error of the socket if it cannot listen.
 *
 * @example
 * const server = await listenHttp(service, { port: 8084, address: '127.0.0.1', log });
 */
export function listenHttp(service: AuthService, options: ListenOptions): Promise<ListeningServer> {
  const { log } = options;
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    void verdictOf(service, req, res)
      .catch((error: unknown) => {
        const status = clientStatusOf(error);
        log[status === undefined ? 'error' : 'info']({ err: error }, 'check rejected');
        return rejection(status ?? 403, 'invalid check');
      })
      .then((verdict) => respond(res, verdict));
  };
  return listenHttpServer(onRequest, { ...options, maxHeaderSize: MAX_HEADER_BYTES });
}

async function verdictOf(service: AuthService, req: IncomingMessage, res: ServerResponse): Promise<Verdict> {
  // The prefix comes from the configuration of the proxy. It is not normalized, so that no path of a client can change it.
  const [, config, path] = PREFIX.exec(req.url ?? '') ?? [];
  if (config === undefined || path === undefined)
    return rejection(404, 'the path does not begin with /check/<AuthConfig>/');
  const facts = factsOf(req);
  facts.path = path;
  facts.requestId = oneOf(req.headers['x-request-id']) ?? '';
  facts.headers = applyHeaderChanges(lowerCase(req.rawHeaders), HOP_BY_HOP);
  // Only the proxy knows how the client connected.
  const scheme = oneOf(req.headers['x-forwarded-proto']) === 'https' ? 'https' : 'http';
  facts.connection = { ...facts.connection, scheme };
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  const limit = service.maxBodyBytes;
  if (hasBody(req)) {
    facts.body = await peekBody(req, limit);
    if (!facts.body.whole) throw clientError('the body is too long', 413);
  }
  return service.check(config, authRequestOf(req, facts, gone.signal));
}

const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'te', 'upgrade', 'proxy-connection'].map(
  (name): HeaderChange => ({ op: 'remove', name }),
);

function oneOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function lowerCase(flat: readonly string[]): readonly string[] {
  return flat.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text));
}

function respond(res: ServerResponse, verdict: Verdict): void {
  if (res.destroyed) return;
  if (verdict.allowed) {
    res.writeHead(200, grantedHeaders(verdict)).end();
    return;
  }
  const { status, headers, body } = verdict;
  const intended = status < 300 ? [INTENDED_STATUS_HEADER, String(status)] : [];
  res.writeHead(statusOf(verdict), [...headers, ...intended]).end(body);
}

/** 200 would allow the request: 203 and 204 mean the same to a browser. */
function statusOf({ status, body }: { readonly status: number; readonly body: ReplyBody }): number {
  if (status !== 200) return status;
  return body.length === 0 ? 204 : 203;
}

function grantedHeaders({ set, remove, responseChanges }: Grant): string[] {
  const flat = [...set].flatMap((header) => header);
  for (const change of responseChanges) if (change.op !== 'remove') flat.push(change.name, change.value);
  const removed = remove.filter((name) => !isFraming(name));
  return removed.length > 0 ? [...flat, TO_REMOVE, removed.join(',')] : flat;
}
