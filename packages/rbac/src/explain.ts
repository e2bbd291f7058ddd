import type { JwtProvider, JwtProviders, Rbac } from '@edge-gateway/core/schema';
import type { Claims } from './claims.ts';
import { compilePolicies, type Decision } from './decide.ts';
import { jwtBlockOf } from './jwt-levels.ts';
import { JWT_STATUS, type JwtFailure } from './jwt-status.ts';
import { findTokens, tokenSourceOf, type TokenSource } from './token-source.ts';
import { parseToken } from './token.ts';
import { checkClaims, claimChecksOf } from './verify.ts';

/** A request whose access is to be explained. */
export interface AccessToExplain {
  readonly method: string;
  /** Canonical, with its query. */
  readonly path: string;
  /** Flat, names in lower case. */
  readonly headers: readonly string[];
  /** Taken for those of a verified token, in place of the tokens in the request. */
  readonly claims?: Claims;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What one provider says of the token that it would judge. */
export interface ExplainedProvider {
  readonly provider: string;
  readonly accepts: boolean;
  readonly reason: string;
}

/** What the providers of one stage say. No signature is looked at. */
export interface ExplainedJwt {
  readonly stage: 'before external auth' | 'after external auth';
  readonly passes: boolean;
  readonly reason: string;
  readonly providers: readonly ExplainedProvider[];
}

/** Who would be let in. */
export interface ExplainedAccess {
  readonly jwt: readonly ExplainedJwt[];
  /** Missing where no policies hold. */
  readonly rbac?: Decision;
}

/** The options of virtual host and route, and whether the Settings want policies everywhere. */
export interface AccessRules {
  readonly levels: readonly [host: { readonly rbac?: Rbac }, route: { readonly rbac?: Rbac }];
  readonly requireRbac: boolean;
}

/**
 * Says what JWT and RBAC would do with a request, without verifying a signature or asking anybody: which provider judges
 * its token, which policy lets it in, or came closest and what it lacked.
 */
export function explainAccess({ levels, requireRbac }: AccessRules, request: AccessToExplain): ExplainedAccess {
  const verified = new Map<string, Claims>();
  const jwt = (['beforeExtAuth', 'afterExtAuth'] as const).flatMap((stage) => {
    const block = jwtBlockOf(levels, stage);
    if (!block) return [];
    return [
      { stage: stage === 'beforeExtAuth' ? BEFORE : AFTER, ...explainProviders(block, request, verified) } as const,
    ];
  });
  const block = levels[1].rbac ?? levels[0].rbac;
  if (block?.disable || (!block && !requireRbac)) return { jwt };
  const { method, path } = request;
  return { jwt, rbac: compilePolicies(block?.policies ?? {})({ method, path, claims: verified }) };
}

const BEFORE = 'before external auth';
const AFTER = 'after external auth';

function explainProviders(
  block: JwtProviders,
  request: AccessToExplain,
  verified: Map<string, Claims>,
): Omit<ExplainedJwt, 'stage'> {
  const judged = Object.entries(block.providers ?? {}).map(([provider, spec]) => ({
    provider,
    ...judge(spec, request),
  }));
  const good = judged.find(({ claims }) => claims !== undefined);
  const providers = judged.map(({ provider, claims, reason }) => ({ provider, accepts: claims !== undefined, reason }));
  if (good) {
    verified.set(good.provider, good.claims!);
    return { passes: true, reason: `provider ${good.provider} judges the token`, providers };
  }
  const policy = block.allowMissingOrFailedJwt
    ? 'ALLOW_MISSING_OR_FAILED'
    : (block.validationPolicy ?? 'REQUIRE_VALID');
  const isMissing = judged.every(({ reason }) => reason === JWT_STATUS.missing.text);
  const passes = policy === 'ALLOW_MISSING_OR_FAILED' || (policy === 'ALLOW_MISSING' && isMissing);
  return { passes, reason: `no provider accepts a token, the validation policy is ${policy}`, providers };
}

interface Judged {
  readonly claims: Claims | undefined;
  readonly reason: string;
}

function judge(spec: JwtProvider, request: AccessToExplain): Judged {
  if (request.claims) return judgeClaims(spec, request.claims);
  const source = tokenSourceOf(spec);
  const facts = { headers: request.headers, path: request.path, requestChanges: [] };
  const { tokens } = findTokens(source, { facts, rawHeaders: [] });
  let claims: Claims | undefined;
  for (const text of tokens) {
    const token = parseToken(text);
    const failure = typeof token === 'string' ? token : checkClaims(token, claimChecksOf(spec), request.now);
    if (failure || typeof token === 'string') return { claims: undefined, reason: textOf(failure) };
    claims ??= token.payload;
  }
  if (!claims) return { claims, reason: JWT_STATUS.missing.text };
  return { claims, reason: `its issuer and times are good; the token is in ${placesOf(source)}` };
}

function judgeClaims({ issuer = '' }: JwtProvider, claims: Claims): Judged {
  const isOther = issuer !== '' && claims['iss'] !== undefined && claims['iss'] !== issuer;
  if (isOther) return { claims: undefined, reason: JWT_STATUS.unknownIssuer.text };
  return { claims, reason: 'the claims are taken for those of a verified token' };
}

const textOf = (failure: JwtFailure | undefined): string => JWT_STATUS[failure ?? 'verificationFails'].text;

function placesOf({ headers, queryParams }: TokenSource): string {
  return [
    ...headers.map(({ header }) => `header ${header}`),
    ...queryParams.map((name) => `query parameter ${name}`),
  ].join(' or ');
}
