import type { IncomingMessage } from 'node:http';
import {
  factsOf,
  type GatewayError,
  identityFrom,
  logRejection,
  type Concern,
  type Context,
  type Facts,
  type Handler,
  type Scope,
  jwtBlockOf,
} from '@edge-gateway/core';
import { JWT_STATUS, type JwtFailure, type Token, type TokenVerifier } from '@edge-gateway/core/jwt';
import type { JwtProviders } from '@edge-gateway/core/schema';
import { rbacError } from '../error-codes.ts';
import { decideJwt, verifyAll, jwtRulesOf, type Verdict } from './decision.ts';
import { claimHeadersIn, removeClientCopies } from './claim-headers.ts';
import { createProvider, jwtCounter, verifierOf } from './provider.ts';
import { withoutTokens } from './token-source.ts';

/** Namespace of the dynamic metadata with verified payloads. */
export const JWT_METADATA = 'envoy.filters.http.jwt_authn';

/** A verdict that may have to be waited for. */
type Pending = Pick<Verdict, 'provider' | 'found'> & {
  readonly verifier: TokenVerifier;
  readonly outcome: Verdict['outcome'] | undefined;
};

/**
 * Verifies tokens. One of several providers must accept; all tokens that a request carries for that
 * provider must be valid. A verified token is cached, so that the next request with it costs a lookup.
 */
function compileJwt(block: JwtProviders, context: Context): Handler | undefined {
  const verifying = Object.entries(block.providers ?? {}).map(([name, spec]) => ({
    provider: createProvider(name, spec),
    verifier: verifierOf(name, spec, context),
  }));
  if (verifying.length === 0) return undefined;
  const providers = verifying.map(({ provider }) => provider);
  const rules = jwtRulesOf(block, providers);
  const tokenParams = providers.flatMap(({ source }) => source.queryParams);
  const allowed = jwtCounter(context, 'allowed');
  const denied = jwtCounter(context, 'denied');
  const log = context.log.get('jwt');

  function conclude(req: IncomingMessage, verdicts: readonly Verdict[]): GatewayError | undefined {
    const facts = factsOf(req);
    const decision = decideJwt(verdicts, rules, facts, req.rawHeaders);
    if (decision.failure === undefined) noteAccepted(decision.accepted, facts);
    else attachFailures(verdicts, facts);
    (decision.passes ? allowed : denied).value++;
    if (decision.passes) return undefined;
    const { failure } = decision;
    logRejection(log, { requestId: facts.requestId, reason: failure }, 'token rejected');
    return refusal(failure, req, tokenParams);
  }

  return function jwt(req, _res, next) {
    const facts = factsOf(req);
    const judged: Pending[] = [];
    for (const { provider, verifier } of verifying) {
      const found = provider.find(req.rawHeaders, facts);
      judged.push({ provider, verifier, found, outcome: verifyAll(found.tokens, verifier.known) });
    }
    if (judged.every(isJudged)) return next(conclude(req, judged));
    verify(judged)
      .then((verdicts) => conclude(req, verdicts))
      .then(next, next);
  };
}

const isJudged = (verdict: Pending): verdict is Pending & Verdict => verdict.outcome !== undefined;

function verify(judged: readonly Pending[]): Promise<Verdict[]> {
  const verifying = judged.map(async ({ provider, verifier, found, outcome }) => ({
    provider,
    found,
    outcome: outcome ?? (await judge(verifier, found.tokens)),
  }));
  return Promise.all(verifying);
}

async function judge(verifier: TokenVerifier, tokens: readonly string[]): Promise<Token | JwtFailure> {
  const verdicts = new Map<string, Token | JwtFailure>();
  for (const text of tokens) {
    const verdict = verifier.known(text) ?? (await verifier.verify(text));
    if (typeof verdict === 'string') return verdict;
    verdicts.set(text, verdict);
  }
  return verifyAll(tokens, (text) => verdicts.get(text)) ?? 'missing';
}

/** Records the identity and the claims of an accepted token. */
export function noteAccepted({ provider, outcome }: Verdict, facts: Facts): void {
  const { payload } = outcome as Pick<Token, 'payload'>;
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
  // Express puts the path before its mount path was removed here.
  const { originalUrl = facts.path } = req as { readonly originalUrl?: string };
  const realm = `${scheme}://${facts.header('host') ?? ''}${withoutTokens(originalUrl, tokenParams)}`;
  const reason = failure === 'missing' ? '' : ', error="invalid_token"';
  return rbacError(failure === 'audienceNotAllowed' ? 'ERR_RBAC_JWT_AUDIENCE' : 'ERR_RBAC_JWT', text, {
    headers: { 'www-authenticate': `Bearer realm="${quotable(realm)}"${reason}`, 'content-type': 'text/plain' },
    reply: { body: text, details: detailsOf(text) },
  });
}

/** Details for access logs, by the text of a failure: there are few. */
const details = new Map<string, string>();

function detailsOf(text: string): string {
  let known = details.get(text);
  if (known === undefined) details.set(text, (known = `jwt_authn_access_denied{${text.replaceAll(' ', '_')}}`));
  return known;
}

/** Characters that a quoted string of a header cannot contain unescaped. */
const UNQUOTABLE = /["\\]|[^\x20-\x7e]/;
const ALL_UNQUOTABLE = new RegExp(UNQUOTABLE, 'g');

/** Escapes a text for a quoted string of a header. */
function quotable(text: string): string {
  // Nearly no text has such characters, and a search for them is faster than a replacement.
  return UNQUOTABLE.test(text) ? text.replaceAll(ALL_UNQUOTABLE, (character) => encodeURIComponent(character)) : text;
}

/** The block of levels without tokens to verify. */
const UNSET: JwtProviders = Object.freeze({});

/** Removes the client's copies of claim headers before any check, also from requests without a token. */
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

/** Tokens that are verified before external auth: `jwtStaged.beforeExtAuth`. */
export const jwtBeforeExtAuthConcern: Concern<JwtProviders> = {
  name: 'jwtBeforeExtAuth',
  option: 'jwtStaged',
  stage: 'jwtBeforeExtAuth',
  pick: (levels) => jwtBlockOf(levels, 'beforeExtAuth') ?? UNSET,
  compile: compileFirst,
};

/** Tokens that are verified after external auth: `jwt`, or `jwtStaged.afterExtAuth`. */
export const jwtConcern: Concern<JwtProviders> = {
  name: 'jwt',
  option: 'jwtStaged',
  stage: 'jwt',
  pick: (levels) => jwtBlockOf(levels, 'afterExtAuth'),
  compile: compileJwt,
};
