import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  factsOf,
  httpStat,
  restoreBody,
  withPage,
  type AuthAllowed,
  type AuthDenied,
  type AuthMethodKind,
  type AuthRequest,
  type Context,
  type Facts,
  type Handler,
  type HeaderChange,
  type Next,
  hasBody,
  peekBody,
  type ReadBody,
} from '@edge-gateway/core';
import type { AuthConfigSpec } from '@edge-gateway/core/schema';
import { authRequestOf } from './auth-request.ts';
import { createChain, type ChainDecision } from '../chain/chain.ts';
import { clientError, clientStatusOf } from '../chain/failure.ts';
import { checkSendable, record, removeClientCopies } from '../chain/grants.ts';
import { grantedHeadersOf, hiddenCookiesOf } from '../chain/method-of.ts';
import { configError } from '../error-codes.ts';
import type { AuthSettings } from '../settings.ts';

/** The response to a rejected request. */
export interface Refusal extends Required<Pick<AuthDenied, 'status' | 'headers' | 'body' | 'reason'>> {
  /** `ext_authz_denied`, or `ext_authz_error` if there was no decision. */
  readonly details: string;
  /** Response flag of access logs: `UAEX`, also if there was no decision. */
  readonly flags: string;
}

/** A request that waits for a decision, and its response. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly next: Next;
}

/** Sends a rejection to the client; differs between the gateway and a user's own server. */
export type Refuse = (refusal: Refusal, exchange: Exchange) => void;

export interface HandlerParts {
  readonly config: AuthConfigSpec;
  /** The auth configs whose granted headers and cookies are hidden from clients and upstreams, this one among them. */
  readonly specs: readonly AuthConfigSpec[];
  readonly methods: readonly AuthMethodKind[];
  readonly settings: AuthSettings;
  readonly context: Context;
  /** `<namespace>.<name>` of the AuthConfig. */
  readonly id: string;
  readonly refuse: Refuse;
}

const TOO_LARGE: Refusal = {
  status: 413,
  headers: [],
  body: 'Payload Too Large',
  reason: 'the body is longer than requestBody.maxRequestBytes',
  details: 'request_payload_too_large',
  flags: '',
};

/** Creates the handler that runs a chain for requests of `node:http`. */
export function createAuthHandler(parts: HandlerParts): Handler {
  const { methods, settings, context, id, refuse } = parts;
  const chain = createChain(parts.config, { kinds: methods, context, id, timeoutMs: settings.timeoutMs });
  const granted = grantedHeadersOf(parts.specs, methods);
  const hidden = hiddenCookiesOf(parts.specs, methods);
  const stats = statsOf(context);
  const log = context.log.get('ext_authz');

  /** Returns true if the request continues; otherwise the response was sent. */
  function settle(decision: ChainDecision, exchange: Exchange, facts: Facts): boolean {
    // Only now, because a step may read what the client sent.
    removeClientCopies(exchange.req, facts, [...granted, ...namesOf(decision)]);
    if (decision.allowed) {
      record(decision, facts, settings);
      stats.ok.value++;
      return true;
    }
    const { requestId } = facts;
    if (!decision.failed) {
      checkSendable(changesOf(decision));
      const { status, headers = [], body = '', reason, unsure } = withPage(decision, context.pages, requestId);
      stats[unsure ? 'error' : 'denied'].value++;
      // The redirects of a login are not rejections.
      log.info(
        { requestId, config: id, status, reason },
        status < 400 ? 'response sent by auth chain' : 'request rejected',
      );
      const details = unsure ? 'ext_authz_error' : 'ext_authz_denied';
      refuse({ status, headers, body, reason, details, flags: 'UAEX' }, exchange);
      return false;
    }
    stats.error.value++;
    // Otherwise a client could cause a failure, e.g. by disconnecting, to be allowed.
    if (settings.failureModeAllow && !decision.failClosed && !hasLeft(exchange)) {
      stats.failureModeAllowed.value++;
      return true;
    }
    const { statusOnError: status } = settings;
    const { reason } = decision;
    refuse({ status, headers: [], body: '', reason, details: 'ext_authz_error', flags: 'UAEX' }, exchange);
    return false;
  }

  async function authorize(exchange: Exchange, facts: Facts): Promise<boolean> {
    const { req, res } = exchange;
    const gone = new AbortController();
    const onClose = (): void => gone.abort();
    res.once('close', onClose);
    try {
      const bare = authRequestOf(req, facts, gone.signal);
      const limit = Math.max(settings.body?.maxBytes ?? 0, chain.bodyBytes(bare));
      const read = limit > 0 && !facts.body && hasBody(req) ? await bodyOf(req, facts, limit) : undefined;
      if (read && !read.whole && !settings.body?.partial) {
        removeClientCopies(req, facts, granted);
        refuse(TOO_LARGE, exchange);
        return false;
      }
      const body = read ?? facts.body;
      const request: AuthRequest = {
        ...bare,
        ...(body && { body: body.bytes }),
        ...(settings.body?.asBytes && { packAsBytes: true }),
      };
      return settle(await chain.authorize(request), exchange, facts);
    } catch (error) {
      const decision = failureOf(error);
      const level = hasLeft(exchange) ? 'debug' : decision.failed ? 'error' : 'info';
      log[level]({ requestId: facts.requestId, config: id, err: error }, 'external auth failed');
      return settle(decision, exchange, facts);
    } finally {
      res.off('close', onClose);
    }
  }

  const handler: Handler = function extAuth(req, res, next) {
    const facts = factsOf(req);
    facts.hiddenCookies = hidden;
    removeClientCopies(req, facts, [settings.userIdHeader]);
    // Outside the error handling above: errors of later handlers are their own.
    void authorize({ req, res, next }, facts).then((isAllowed) => {
      if (isAllowed) next();
    });
  };
  handler.close = () => chain.close();
  return handler;
}

/**
 * Reads the body and puts it back into the stream; a body that an earlier parser consumed is only restored. Throws
 * `ERR_EXTAUTH_REQUEST` (400) if it cannot be restored, and `ERR_EXTAUTH_CONFIG` if the parser left nothing of it.
 */
async function bodyOf(req: IncomingMessage, facts: Facts, limit: number): Promise<ReadBody> {
  if (!req.readableEnded) return (facts.body = await peekBody(req, limit));
  const restored = restoreBody(req);
  if (restored.bytes) return { bytes: restored.bytes.subarray(0, limit), whole: restored.bytes.length <= limit };
  const message = `the body was read before external auth: ${restored.reason}`;
  throw restored.isMissing ? configError(`${message}; mount external auth first`) : clientError(message, 400);
}

/** Failures outside the steps are caused by the client or a defect, because no server was called. */
function failureOf(error: unknown): Exclude<ChainDecision, AuthAllowed> {
  const status = clientStatusOf(error);
  if (status === undefined)
    return { allowed: false, status: 403, reason: 'external auth failed', failed: true, failClosed: true };
  return { allowed: false, status, body: STATUS_CODES[status] ?? '', reason: (error as Error).message, unsure: true };
}

function hasLeft({ req, res }: Exchange): boolean {
  return res.destroyed || (req.destroyed && !req.complete);
}

/** Returns the request headers that a chain changes; granted headers replace those of the client in every spelling. */
function namesOf(decision: ChainDecision): string[] {
  return decision.allowed ? (decision.requestChanges ?? []).map(({ name }) => name) : [];
}

function changesOf({ headers = [] }: AuthDenied): HeaderChange[] {
  return headers.flatMap((name, i) => (i % 2 === 0 ? [{ op: 'append', name, value: headers[i + 1] ?? '' }] : []));
}

function statsOf({ metrics }: Context) {
  const counter = (what: string) => metrics.counter(httpStat(`ext_authz.${what}`));
  return {
    ok: counter('ok'),
    denied: counter('denied'),
    error: counter('error'),
    failureModeAllowed: counter('failure_mode_allowed'),
  };
}
