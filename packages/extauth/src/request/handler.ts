import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  factsOf,
  restoreBody,
  type AuthDecision,
  type AuthRequest,
  type Context,
  type CookieTest,
  type Facts,
  type Handler,
  type Next,
  hasBody,
  peekBody,
  type ReadBody,
} from '@edge-gateway/core';
import { authRequestOf } from './auth-request.ts';
import type { Chain } from '../chain/chain.ts';
import { clientError } from '../chain/failure.ts';
import { record, recordMetadata, removeClientCopies } from '../chain/grants.ts';
import { createSettlement, type Outcome, type Refusal, type Settled } from '../chain/settle.ts';
import { configError } from '../error-codes.ts';
import type { AuthSettings } from '../settings.ts';

/** A request that waits for a decision, and its response. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly next: Next;
}

/** Sends a rejection to the client; differs between the gateway and a user's own server. */
export type Refuse = (refusal: Refusal, exchange: Exchange) => void;

/** What clients must not send, and upstreams not receive. */
export interface Hidden {
  /** Request headers, in lower case, that only external auth may set. */
  readonly headers: readonly string[];
  /** Matches cookies that only external auth reads. */
  readonly cookies: CookieTest;
}

export interface HandlerParts {
  /** What decides: the chain of an AuthConfig, or an auth server. */
  readonly check: Chain;
  readonly hidden: Hidden;
  readonly settings: AuthSettings;
  readonly context: Context;
  /** `<namespace>.<name>` of the AuthConfig, or the name of the auth server. */
  readonly id: string;
  /** True if the check may append to headers of the client; otherwise it replaces them. */
  readonly appends?: boolean;
  /** Returns the context extensions of a request. Default: none. */
  readonly extensionsOf?: (request: AuthRequest) => Readonly<Record<string, string>>;
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

/** Creates the handler that asks a check for requests of `node:http`. */
export function createAuthHandler(parts: HandlerParts): Handler {
  const { check, hidden, settings, context, id, appends = false, extensionsOf, refuse } = parts;
  const settlement = createSettlement({ settings, context, id });

  /** Returns true if the request continues; otherwise the response was sent. */
  function apply(outcome: Outcome, exchange: Exchange, facts: Facts): boolean {
    if (outcome.allowed) record(outcome.granted, facts, settings);
    else refuse(outcome.refusal, exchange);
    return outcome.allowed;
  }

  async function authorize(exchange: Exchange, facts: Facts): Promise<boolean> {
    const { req, res } = exchange;
    const gone = new AbortController();
    const onClose = (): void => gone.abort();
    res.once('close', onClose);
    const settled: Settled = { requestId: facts.requestId, upstream: facts.upstream, hasLeft: () => hasLeft(exchange) };
    try {
      const bare = authRequestOf(req, facts, gone.signal);
      const limit = Math.max(settings.body?.maxBytes ?? 0, check.bodyBytes(bare));
      const read = limit > 0 && !facts.body && hasBody(req) ? await bodyOf(req, facts, limit) : undefined;
      if (read && !read.whole && !settings.body?.partial) {
        removeClientCopies(req, facts, hidden.headers);
        refuse(TOO_LARGE, exchange);
        return false;
      }
      const body = read ?? facts.body;
      const request: AuthRequest = {
        ...bare,
        ...(extensionsOf && { contextExtensions: extensionsOf(bare) }),
        ...(body && { body: body.bytes }),
        ...(body && !body.whole && { isPartialBody: true as const }),
        ...(settings.body?.asBytes && { packAsBytes: true }),
      };
      const decision = await check.authorize(request);
      // Only now, because a step may read what the client sent.
      removeClientCopies(req, facts, [...hidden.headers, ...namesOf(decision, appends)]);
      if (!decision.allowed && decision.metadata) recordMetadata(decision.metadata, facts);
      return apply(settlement.settle(decision, settled), exchange, facts);
    } catch (error) {
      removeClientCopies(req, facts, hidden.headers);
      return apply(settlement.fail(error, settled), exchange, facts);
    } finally {
      res.off('close', onClose);
    }
  }

  const handler: Handler = function extAuth(req, res, next) {
    const facts = factsOf(req);
    facts.hiddenCookies = hidden.cookies;
    removeClientCopies(req, facts, [settings.userIdHeader]);
    // Outside the error handling above: errors of later handlers are their own.
    void authorize({ req, res, next }, facts).then((isAllowed) => {
      if (isAllowed) next();
    });
  };
  handler.close = () => check.close();
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

function hasLeft({ req, res }: Exchange): boolean {
  return res.destroyed || (req.destroyed && !req.complete);
}

/** Returns the request headers that a check replaces: granted headers replace those of the client in every spelling. */
function namesOf(decision: AuthDecision, appends: boolean): string[] {
  const changes = (decision.allowed && decision.requestChanges) || [];
  return changes.filter(({ op }) => !appends || op !== 'append').map(({ name }) => name);
}
