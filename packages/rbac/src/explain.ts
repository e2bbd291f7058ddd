import { jwtBlockOf, type Facts, type VirtualHost } from '@edge-gateway/core';
import type { JwtProvider, JwtProviders, Rbac } from '@edge-gateway/core/schema';
import { claimCopiesOf, claimHeadersOf, copyClaims, removeOthersCopies } from './claim-headers.ts';
import type { Claims } from './claims.ts';
import { compilePolicies, type Decision } from './decide.ts';
import { claimHeadersIn, removeClientCopies } from './host-claim-headers.ts';
import { httpStatusOf, JWT_STATUS, worstOf, type JwtFailure } from './jwt-status.ts';
import { findTokens, removeTokens, tokenSourceOf, type FoundTokens, type TokenSource } from './token-source.ts';
import { parseToken } from './token.ts';
import { checkClaims, claimChecksOf } from './verify.ts';

/** Options of virtual host and route. */
export type AccessLevels = readonly [host: { readonly rbac?: Rbac }, route: { readonly rbac?: Rbac }];

/** What a request is answered with, instead of going on. */
export interface AccessRefusal {
  readonly status: 400 | 401 | 403;
  readonly body: string;
  /** Where the body does not say it. */
  readonly reason?: string;
}

/** A request whose access is to be explained. */
export interface AccessToExplain {
  /** Method, canonical path and headers; what JWT changes of them is recorded here as when it serves. */
  readonly facts: Facts;
  /** Taken for those of a verified token, in place of the tokens in the request. */
  readonly claims?: Claims;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /**
   * Changes the request as the transformations of its route do at a stage, `early` before tokens of `afterExtAuth` and
   * `regular` behind policies. Default: there are none.
   */
  readonly transform?: (stage: 'early' | 'regular') => AccessRefusal | undefined;
  /** What holds for the route that the request has after what was recorded; nothing when it has none. Default: the same. */
  readonly reroute?: () => Pick<AccessRules, 'levels' | 'virtualHost'> | undefined;
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
  /**
   * Headers of the client that are taken out before anything is asked, in lower case: a provider somewhere in the virtual
   * host copies claims to them. Missing where there are none.
   */
  readonly removedHeaders?: readonly string[];
  readonly jwt: readonly ExplainedJwt[];
  /** Missing where no policies hold. */
  readonly rbac?: Decision;
  /** Set when another route holds after what tokens or transformations changed. */
  readonly rerouted?: true;
  /** What the request is answered with. */
  readonly refusal?: AccessRefusal;
}

/** What holds for a request. */
export interface AccessRules {
  readonly levels: AccessLevels;
  /** Whether the Settings want policies everywhere. */
  readonly requireRbac: boolean;
  /** Whose claim headers no client may send, on any of its routes. Default: those of the levels alone. */
  readonly virtualHost?: VirtualHost;
}

const TITLES = { beforeExtAuth: 'before external auth', afterExtAuth: 'after external auth' } as const;
/** In the order in which a request meets them. */
const STEPS = ['beforeExtAuth', 'early', 'afterExtAuth', 'rbac', 'regular'] as const;

type Step = (typeof STEPS)[number];
type Holding = Omit<AccessRules, 'requireRbac'>;

/**
 * Says what JWT and RBAC would do with a request, without verifying a signature or asking anybody: which provider judges
 * its token, which policy lets it in, or came closest and what it lacked. Records on the facts what would change.
 */
export function explainAccess(rules: AccessRules, request: AccessToExplain): ExplainedAccess {
  const { facts } = request;
  const way = new ExplainedWay(rules, request);
  let holding: Holding | undefined = rules;
  for (let i = 0; i < STEPS.length && holding; i++) {
    way.take(STEPS[i]!, holding);
    if (way.refusal || !facts.reroute || !request.reroute) continue;
    facts.reroute = false;
    const next = request.reroute();
    // Of another route every step is taken that this request has not met yet.
    if (next?.levels !== holding.levels) {
      way.rerouted = true;
      i = -1;
    }
    holding = next;
  }
  return way.explained();
}

/** What an explained request has met so far. */
class ExplainedWay {
  refusal: AccessRefusal | undefined;
  rerouted = false;
  readonly #rules: AccessRules;
  readonly #request: AccessToExplain;
  readonly #removed: string[] = [];
  readonly #jwt: ExplainedJwt[] = [];
  readonly #met = new Set<unknown>();
  #rbac: Decision | undefined;

  constructor(rules: AccessRules, request: AccessToExplain) {
    this.#rules = rules;
    this.#request = request;
  }

  take(step: Step, { levels, virtualHost }: Holding): void {
    if (step === 'rbac') this.#judge(levels);
    else if (step === 'early' || step === 'regular') {
      if (!this.refusal) this.refusal = this.#request.transform?.(step);
    } else {
      if (step === 'beforeExtAuth' && virtualHost)
        this.#removed.push(...clientCopiesRemoved(virtualHost, this.#request.facts));
      this.#verify(step, jwtBlockOf(levels, step));
    }
  }

  explained(): ExplainedAccess {
    return {
      ...(this.#removed.length > 0 && { removedHeaders: this.#removed }),
      jwt: this.#jwt,
      ...(this.rerouted && { rerouted: true }),
      ...(this.#rbac && { rbac: this.#rbac }),
      ...(this.refusal && { refusal: this.refusal }),
    };
  }

  #verify(step: keyof typeof TITLES, block: JwtProviders | undefined): void {
    if (!block || this.#met.has(block)) return;
    this.#met.add(block);
    const { answer, ...explained } = explainProviders(block, this.#request);
    this.#jwt.push({ stage: TITLES[step], ...explained });
    this.refusal ??= answer;
  }

  #judge(levels: AccessLevels): void {
    const block = levels[1].rbac ?? levels[0].rbac;
    if (block?.disable || (!block && !this.#rules.requireRbac) || this.#met.has(block)) return;
    this.#met.add(block);
    this.#rbac = compilePolicies(block?.policies ?? {})(this.#request.facts);
    if (!this.#rbac.allowed) this.refusal ??= { status: 403, body: 'RBAC: access denied' };
  }
}

function clientCopiesRemoved(host: VirtualHost, facts: Facts): string[] {
  const before = facts.requestChanges.length;
  removeClientCopies(claimHeadersIn(host), facts);
  return facts.requestChanges.slice(before).map(({ name }) => name);
}

type ExplainedStage = Omit<ExplainedJwt, 'stage'> & { readonly answer: ExplainedAccess['refusal'] };

function explainProviders(block: JwtProviders, request: AccessToExplain): ExplainedStage {
  const { facts } = request;
  const judged = Object.entries(block.providers ?? {}).map(([provider, spec]) => {
    const copies = claimCopiesOf(provider, spec);
    return { provider, spec, copies, ...judge(spec, request) };
  });
  const claimHeaders = new Set(judged.flatMap(({ copies }) => claimHeadersOf(copies)));
  removeOthersCopies(claimHeaders, facts, []);
  const providers = judged.map(({ provider, failure, reason }) => ({ provider, accepts: !failure, reason }));
  const good = judged.find(({ claims }) => claims !== undefined);
  if (good) {
    facts.claims.set(good.provider, good.claims!);
    copyClaims(good.copies, good.claims!, facts);
    if (!good.spec.keepToken) removeTokens(good.found, good.source, facts);
    return { passes: true, reason: `provider ${good.provider} judges the token`, providers, answer: undefined };
  }
  const policy = block.allowMissingOrFailedJwt
    ? 'ALLOW_MISSING_OR_FAILED'
    : (block.validationPolicy ?? 'REQUIRE_VALID');
  const failure = worstOf(judged.map((each) => each.failure ?? 'missing'));
  const passes =
    judged.length === 0 ||
    policy === 'ALLOW_MISSING_OR_FAILED' ||
    (policy === 'ALLOW_MISSING' && failure === 'missing');
  const answer = passes ? undefined : { status: httpStatusOf(failure), body: JWT_STATUS[failure].text };
  return { passes, reason: `no provider accepts a token, the validation policy is ${policy}`, providers, answer };
}

interface Judged {
  readonly source: TokenSource;
  readonly found: FoundTokens;
  readonly reason: string;
  /** Of a token that is accepted. */
  readonly claims?: Claims;
  readonly failure?: JwtFailure;
}

function judge(spec: JwtProvider, { facts, claims, now }: AccessToExplain): Judged {
  const source = tokenSourceOf(spec);
  const found = findTokens(source, { facts, rawHeaders: [] });
  const failed = (failure: JwtFailure): Judged => ({ source, found, failure, reason: JWT_STATUS[failure].text });
  if (claims) {
    const { issuer = '' } = spec;
    if (issuer !== '' && claims['iss'] !== undefined && claims['iss'] !== issuer) return failed('unknownIssuer');
    return { source, found, claims, reason: 'the claims are taken for those of a verified token' };
  }
  let accepted: Claims | undefined;
  for (const text of found.tokens) {
    const token = parseToken(text);
    if (typeof token === 'string') return failed(token);
    const failure = checkClaims(token, claimChecksOf(spec), now);
    if (failure) return failed(failure);
    accepted ??= token.payload;
  }
  if (!accepted) return failed('missing');
  const reason = `its issuer and times are good; the token is in ${placesOf(source)}`;
  return { source, found, claims: accepted, reason };
}

function placesOf({ headers, queryParams }: TokenSource): string {
  return [
    ...headers.map(({ header }) => `header ${header}`),
    ...queryParams.map((name) => `query parameter ${name}`),
  ].join(' or ');
}
