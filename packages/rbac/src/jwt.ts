import type { IncomingMessage } from 'node:http';
import {
  factsOf,
  GatewayError,
  identityFrom,
  type Concern,
  type Context,
  type Facts,
  type Handler,
  type Scope,
  jwtBlockOf,
} from '@edge-gateway/core';
import type { JwtProviders } from '@edge-gateway/core/schema';
import { removeOthersCopies } from './claim-headers.ts';
import { claimHeadersIn, removeClientCopies } from './host-claim-headers.ts';
import { jwtCounter } from './jwt-counter.ts';
import { httpStatusOf, JWT_STATUS, worstOf, type JwtFailure } from './jwt-status.ts';
import { createProvider, type Provider } from './provider.ts';
import { withoutTokens, type FoundTokens } from './token-source.ts';
import type { Token } from './token.ts';

/** Namespace of the dynamic metadata that verified payloads are put under. */
export const JWT_METADATA = 'envoy.filters.http.jwt_authn';

interface Verdict {
  readonly provider: Provider;
  readonly found: FoundTokens;
  readonly outcome: Token | JwtFailure;
}

/**
 * Verifies tokens. With several providers one of them has to accept; all tokens that a request carries for that
 * provider have to be good. A good token is remembered, so that the next request with it costs a look-up.
 */
function compileJwt(block: JwtProviders, context: Context): Handler | undefined {
  const providers = Object.entries(block.providers ?? {}).map(([name, spec]) => createProvider(name, spec, context));
  if (providers.length === 0) return undefined;
  const policy = block.allowMissingOrFailedJwt
    ? 'ALLOW_MISSING_OR_FAILED'
    : (block.validationPolicy ?? 'REQUIRE_VALID');
  const claimHeaders = new Set(providers.flatMap((provider) => provider.claimHeaders));
  const tokenParams = providers.flatMap((provider) => provider.source.queryParams);
  const stats = { allowed: jwtCounter(context, 'allowed'), denied: jwtCounter(context, 'denied') };
  const log = context.log.get('jwt');

  function conclude(req: IncomingMessage, verdicts: readonly Verdict[]): GatewayError | undefined {
    const facts = factsOf(req);
    removeOthersCopies(claimHeaders, facts, req.rawHeaders);
    const good = verdicts.find(({ outcome }) => typeof outcome !== 'string');
    if (good) {
      stats.allowed.value++;
      acceptToken(good, facts);
      return undefined;
    }
    const failure = worstOf(verdicts.map(({ outcome }) => outcome as JwtFailure));
    attachFailures(verdicts, facts);
    if (policy === 'ALLOW_MISSING_OR_FAILED' || (policy === 'ALLOW_MISSING' && failure === 'missing')) {
      stats.allowed.value++;
      return undefined;
    }
    stats.denied.value++;
    log.info({ requestId: facts.requestId, reason: failure }, 'token refused');
    return refusal(failure, req, tokenParams);
  }

  return function jwt(req, _res, next) {
    const facts = factsOf(req);
    const judged = providers.map((provider) => {
      const found = provider.find(req, facts);
      return { provider, found, outcome: judgeNow(provider, found.tokens) };
    });
    if (judged.every((verdict): verdict is Verdict => verdict.outcome !== undefined))
      return next(conclude(req, judged));
    const judging = judged.map(async ({ provider, found, outcome }) => ({
      provider,
      found,
      outcome: outcome ?? (await judge(provider, found.tokens)),
    }));
    Promise.all(judging)
      .then((verdicts) => conclude(req, verdicts))
      .then(next, next);
  };
}

/** The verdict on all tokens of a provider when each is known without waiting. */
function judgeNow(provider: Provider, tokens: readonly string[]): Token | JwtFailure | undefined {
  if (tokens.length === 0) return 'missing';
  let last: Token | JwtFailure | undefined;
  for (const text of tokens) {
    last = provider.verdictNow(text);
    if (last === undefined || typeof last === 'string') return last;
  }
  return last;
}

async function judge(provider: Provider, tokens: readonly string[]): Promise<Token | JwtFailure> {
  let first: Token | undefined;
  for (const text of tokens) {
    const outcome = provider.verdictNow(text) ?? (await provider.verdict(text));
    if (typeof outcome === 'string') return outcome;
    first ??= outcome;
  }
  return first ?? 'missing';
}

function acceptToken({ provider, found, outcome }: Verdict, facts: Facts): void {
  const { payload } = outcome as Token;
  provider.accept(payload, found, facts);
  facts.identity = identityFrom(provider.name, payload);
  metadataOf(facts)[provider.name] = payload;
}

function attachFailures(verdicts: readonly Verdict[], facts: Facts): void {
  for (const { provider, outcome } of verdicts) {
    if (provider.failureKey === '' || typeof outcome !== 'string') continue;
    const { code, text } = JWT_STATUS[outcome];
    metadataOf(facts)[provider.failureKey] = { code, message: text };
  }
}

function metadataOf(facts: Facts): Record<string, unknown> {
  const known = facts.metadata.get(JWT_METADATA);
  if (known) return known;
  const made: Record<string, unknown> = {};
  facts.metadata.set(JWT_METADATA, made);
  return made;
}

function refusal(failure: JwtFailure, req: IncomingMessage, tokenParams: readonly string[]): GatewayError {
  const { text } = JWT_STATUS[failure];
  const facts = factsOf(req);
  const scheme = facts.header('x-forwarded-proto') ?? ('encrypted' in req.socket ? 'https' : 'http');
  // Behind a mount path of Express the client's own path is here.
  const { originalUrl = facts.path } = req as { readonly originalUrl?: string };
  const realm = `${scheme}://${facts.header('host') ?? ''}${withoutTokens(originalUrl, tokenParams)}`;
  const reason = failure === 'missing' ? '' : ', error="invalid_token"';
  return new GatewayError(text, {
    code: failure === 'audienceNotAllowed' ? 'ERR_RBAC_JWT_AUDIENCE' : 'ERR_RBAC_JWT',
    status: httpStatusOf(failure),
    headers: { 'www-authenticate': `Bearer realm="${quotable(realm)}"${reason}`, 'content-type': 'text/plain' },
    reply: { body: text, details: `jwt_authn_access_denied{${text.replaceAll(' ', '_')}}` },
  });
}

/** A text as it may stand in a quoted string of a header. */
function quotable(text: string): string {
  return text.replaceAll(/["\\]|[^\x20-\x7e]/g, (character) => encodeURIComponent(character));
}

/** Stands for levels that check nothing. */
const UNSET: JwtProviders = Object.freeze({});

/** Before anything is asked, and also where no token is, the client's copies of claim headers go. */
function compileFirst(block: JwtProviders, context: Context, scope?: Scope): Handler | undefined {
  const judge = compileJwt(block, context);
  const names = scope && claimHeadersIn(scope.virtualHost);
  if (!names?.size) return judge;
  return function jwtBeforeExtAuth(req, res, next) {
    removeClientCopies(names, factsOf(req));
    if (judge) judge(req, res, next);
    else next();
  };
}

/** Tokens that are checked before external auth: `jwtStaged.beforeExtAuth`. */
export const jwtBeforeExtAuthConcern: Concern<JwtProviders> = {
  name: 'jwtBeforeExtAuth',
  option: 'jwtStaged',
  stage: 'jwtBeforeExtAuth',
  pick: (levels) => jwtBlockOf(levels, 'beforeExtAuth') ?? UNSET,
  compile: compileFirst,
};

/** Tokens that are checked after external auth: `jwt`, or `jwtStaged.afterExtAuth`. */
export const jwtConcern: Concern<JwtProviders> = {
  name: 'jwt',
  option: 'jwtStaged',
  stage: 'jwt',
  pick: (levels) => jwtBlockOf(levels, 'afterExtAuth'),
  compile: compileJwt,
};
