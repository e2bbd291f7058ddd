import { jwtBlockOf, type Facts, type VirtualHost } from '@edge-gateway/core';
import { JWT_STATUS, readToken, type Claims } from '@edge-gateway/core/jwt';
import type { JwtProvider, JwtProviders, Rbac } from '@edge-gateway/core/schema';
import { claimHeadersIn, removeClientCopies } from './jwt/claim-headers.ts';
import { decideJwt, httpStatusOf, verifyAll, jwtRulesOf, type Verdict } from './jwt/decision.ts';
import { noteAccepted } from './jwt/jwt.ts';
import { createProvider, tokenRulesOf } from './jwt/provider.ts';
import type { TokenSource } from './jwt/token-source.ts';
import type { Decision } from './policy/decide.ts';
import { ACCESS_DENIED, accessBlockOf, compileAccess } from './policy/rbac.ts';

/** Options of virtual host and route. */
export type AccessLevels = readonly [host: { readonly rbac?: Rbac }, route: { readonly rbac?: Rbac }];

/** The response to a rejected request. */
export interface AccessRefusal {
  readonly status: number;
  readonly body: string;
  /** Set if the body does not contain it. */
  readonly reason?: string;
}

/** A request whose access is to be explained. */
export interface AccessToExplain {
  /** Method, canonical path and headers; receives the same changes as when the request is served. */
  readonly facts: Facts;
  /** Used as those of a verified token, instead of the tokens in the request. */
  readonly claims?: Claims;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /**
   * Changes the request as the transformations of its route do at a stage, `early` before tokens of `afterExtAuth` and
   * `regular` after policies. Default: no changes.
   */
  readonly transform?: (stage: 'early' | 'regular') => AccessRefusal | undefined;
  /** Evaluates external auth and records its grants; returns its denial, after which no further step is explained. Default: it allows the request. */
  readonly extAuth?: () => AccessRefusal | undefined;
  /** Returns the rules for the route after the recorded changes; `undefined` without a route. Default: the same rules. */
  readonly reroute?: () => Pick<AccessRules, 'levels' | 'virtualHost'> | undefined;
}

/** The verdict of one provider. */
export interface ExplainedProvider {
  readonly provider: string;
  readonly accepts: boolean;
  readonly reason: string;
}

/** The verdicts of the providers of one stage, without signatures. */
export interface ExplainedJwt {
  readonly stage: 'before external auth' | 'after external auth';
  readonly passes: boolean;
  readonly reason: string;
  readonly providers: readonly ExplainedProvider[];
}

/** The decisions of JWT and RBAC for a request. */
export interface ExplainedAccess {
  /**
   * Headers of the client that are removed first, in lower case, because a provider of the virtual host copies claims to
   * them. Missing if there are none.
   */
  readonly removedHeaders?: readonly string[];
  readonly jwt: readonly ExplainedJwt[];
  /** Missing if no policies apply. */
  readonly rbac?: Decision;
  /** Set if changes by tokens or transformations selected another route. */
  readonly rerouted?: true;
  /** The response, if the request is rejected. */
  readonly refusal?: AccessRefusal;
}

/** The rules for a request. */
export interface AccessRules {
  readonly levels: AccessLevels;
  /** True if the Settings require policies on every route. */
  readonly requireRbac: boolean;
  /** Whose claim headers no client may send, on any of its routes. Default: those of the levels alone. */
  readonly virtualHost?: VirtualHost;
}

const TITLES = { beforeExtAuth: 'before external auth', afterExtAuth: 'after external auth' } as const;
/** In the order in which a request meets them. */
const STEPS = ['beforeExtAuth', 'extAuth', 'early', 'afterExtAuth', 'rbac', 'regular'] as const;

type Step = (typeof STEPS)[number];
type RouteRules = Omit<AccessRules, 'requireRbac'>;
type Draft = { -readonly [Key in keyof ExplainedAccess]: ExplainedAccess[Key] };

/**
 * Explains the decisions of JWT and RBAC for a request, without verifying signatures or making calls: which provider verifies
 * its token, which policy allows it, or came closest and what was missing. Records the changes on the facts.
 */
export function explainAccess(rules: AccessRules, request: AccessToExplain): ExplainedAccess {
  const { facts } = request;
  const explained: Draft = { jwt: [] };
  const explain = createSteps(explained, rules.requireRbac, request);
  let current: RouteRules | undefined = rules;
  for (let i = 0; i < STEPS.length && current; i++) {
    const step = STEPS[i]!;
    const isRefused = explained.refusal !== undefined;
    explain(step, current);
    if (step === 'extAuth' && explained.refusal && !isRefused) break;
    if (explained.refusal || !facts.reroute || !request.reroute) continue;
    facts.reroute = false;
    const next = request.reroute();
    // On another route the request passes every step that it has not passed yet.
    if (next?.levels !== current.levels) {
      explained.rerouted = true;
      i = -1;
    }
    current = next;
  }
  return explained;
}

/** Returns the function that explains a step. Each block is explained once, also if several routes have it. */
function createSteps(explained: Draft, requireRbac: boolean, request: AccessToExplain) {
  const { facts } = request;
  const seen = new Set<unknown>();
  const isNew = (block: object): boolean => {
    const isKnown = seen.has(block);
    seen.add(block);
    return !isKnown;
  };
  const refuse = (refusal: AccessRefusal | undefined): void => {
    if (refusal) explained.refusal ??= refusal;
  };

  return (step: Step, { levels, virtualHost }: RouteRules): void => {
    if (step === 'extAuth' || step === 'early' || step === 'regular') {
      if (explained.refusal) return undefined;
      return refuse(step === 'extAuth' ? request.extAuth?.() : request.transform?.(step));
    }
    if (step === 'rbac') {
      const block = accessBlockOf(levels);
      const decision = isNew(block) ? compileAccess(block, requireRbac)?.(facts) : undefined;
      if (decision) explained.rbac = decision;
      return decision?.allowed === false ? refuse({ status: 403, body: ACCESS_DENIED }) : undefined;
    }
    const removed = step === 'beforeExtAuth' && virtualHost ? clientCopiesRemoved(virtualHost, facts) : [];
    if (removed.length > 0) explained.removedHeaders = [...(explained.removedHeaders ?? []), ...removed];
    const block = jwtBlockOf(levels, step);
    if (!block || !isNew(block)) return undefined;
    const { answer, ...stage } = explainProviders(block, request);
    explained.jwt = [...explained.jwt, { stage: TITLES[step], ...stage }];
    return refuse(answer);
  };
}

function clientCopiesRemoved(host: VirtualHost, facts: Facts): string[] {
  const before = facts.requestChanges.length;
  removeClientCopies(claimHeadersIn(host), facts);
  return facts.requestChanges.slice(before).map(({ name }) => name);
}

type ExplainedStage = Omit<ExplainedJwt, 'stage'> & { readonly answer: ExplainedAccess['refusal'] };

function explainProviders(block: JwtProviders, request: AccessToExplain): ExplainedStage {
  const { facts } = request;
  const judged = Object.entries(block.providers ?? {}).map(([name, spec]): Verdict => {
    const provider = createProvider(name, spec);
    const found = provider.find([], facts);
    return { provider, found, outcome: judge(spec, found.tokens, request) };
  });
  const providers = judged.map(({ provider: { name, source }, outcome }) => ({
    provider: name,
    accepts: typeof outcome !== 'string',
    reason: typeof outcome === 'string' ? JWT_STATUS[outcome].text : reasonOf(source, request),
  }));
  const all = judged.map(({ provider }) => provider);
  const rules = jwtRulesOf(block, all);
  const decision = decideJwt(judged, rules, facts, []);
  const { failure } = decision;
  if (failure === undefined) {
    noteAccepted(decision.accepted, facts);
    const reason = `provider ${decision.accepted.provider.name} judges the token`;
    return { passes: true, reason, providers, answer: undefined };
  }
  // A block without providers verifies nothing.
  const passes = decision.passes || judged.length === 0;
  const answer = passes ? undefined : { status: httpStatusOf(failure), body: JWT_STATUS[failure].text };
  const reason = `no provider accepts a token, the validation policy is ${rules.policy}`;
  return { passes, reason, providers, answer };
}

/** The verdict of a provider, apart from signatures. */
function judge(spec: JwtProvider, tokens: readonly string[], { claims, now }: AccessToExplain): Verdict['outcome'] {
  const rules = tokenRulesOf(spec);
  if (!claims) return verifyAll(tokens, (text) => readToken(text, rules, now)) ?? 'missing';
  const { issuer = '' } = rules;
  const isOther = issuer !== '' && claims['iss'] !== undefined && claims['iss'] !== issuer;
  return isOther ? 'unknownIssuer' : { payload: claims };
}

function reasonOf({ headers, queryParams }: TokenSource, { claims }: AccessToExplain): string {
  if (claims) return 'the claims are taken for those of a verified token';
  const places = [
    ...headers.map(({ header }) => `header ${header}`),
    ...queryParams.map((name) => `query parameter ${name}`),
  ];
  return `its issuer and times are good; the token is in ${places.join(' or ')}`;
}
