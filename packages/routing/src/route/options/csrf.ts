import {
  asMiddleware,
  factsOf,
  httpStat,
  shareOf,
  type Concern,
  type Context,
  type CreateMiddleware,
  type Facts,
  type Handler,
} from '@edge-gateway/core';
import type { Csrf } from '@edge-gateway/core/schema';
import { replyError } from '../../error-codes.ts';
import { compileStringMatcher } from '../match/string-matcher.ts';
import { isChosen } from './fraction.ts';

/** `csrf`: rejects mutating requests of other origins. */
export const csrfConcern: Concern<Csrf> = { name: 'csrf', option: 'csrf', stage: 'destination', compile };

/**
 * Rejects mutating requests of other origins with 403 in your own server, by the block that routes have as `csrf`. Without `filterEnabled` no request is
 * checked. Throws `ERR_CORE_MIDDLEWARE` for invalid options.
 *
 * @example
 * app.use(csrf({ filterEnabled: { defaultValue: { numerator: 100 } }, additionalOrigins: [{ suffix: '.example.com' }] }));
 */
export const csrf: CreateMiddleware<Csrf> = asMiddleware(csrfConcern, 'Csrf');

const MUTATING: ReadonlySet<string> = new Set(['POST', 'PUT', 'DELETE', 'PATCH']);

function compile(options: Csrf, context: Context): Handler | undefined {
  const enforced = shareOf(options.filterEnabled?.defaultValue);
  const shadowed = shareOf(options.shadowEnabled?.defaultValue);
  if (enforced === 0 && shadowed === 0) return undefined;
  const counter = (name: string) => context.metrics.counter(httpStat(`csrf.${name}`));
  const counters = {
    valid: counter('request_valid'),
    invalid: counter('request_invalid'),
    missing: counter('missing_source_origin'),
  };
  const check = createOriginCheck(options);

  return function csrf(req, _res, next) {
    const facts = factsOf(req);
    if (!MUTATING.has(facts.method)) return next();
    const isEnforced = isChosen(enforced);
    if (!isEnforced && !isChosen(shadowed)) return next();
    const verdict = check(facts);
    if (verdict === 'unchecked') return next();
    counters[verdict].value++;
    return isEnforced && verdict !== 'valid' ? next(CSRF_REJECTED) : next();
  };
}

/** Whether the origin of a request is allowed; requests that change nothing are not checked. */
export type OriginVerdict = 'unchecked' | 'valid' | 'invalid' | 'missing';

/** Compiles the check of `csrf`. Throws for invalid expressions. */
export function createOriginCheck({ additionalOrigins = [] }: Csrf): (facts: Facts) => OriginVerdict {
  const allowed = additionalOrigins.map(compileStringMatcher);
  const isValid = (source: string, target: string): boolean =>
    source.toLowerCase() === target.toLowerCase() || allowed.some((matches) => matches(source));
  return (facts) => {
    if (!MUTATING.has(facts.method)) return 'unchecked';
    const source = sourceOf(facts);
    if (source === '') return 'missing';
    return isValid(source, facts.header('host') ?? '') ? 'valid' : 'invalid';
  };
}

/** The response to a request of another origin. */
export const CSRF_REJECTED = replyError('ERR_ROUTING_CSRF', { details: 'csrf_origin_mismatch' });

/** Returns the host and port of `Origin`, else of `Referer`; empty for none, and for an opaque origin. */
function sourceOf(facts: Facts): string {
  const origin = facts.header('origin') ?? '';
  if (origin === 'null') return '';
  return authorityOf(origin === '' ? (facts.header('referer') ?? '') : origin);
}

/** Returns the host and port of a URL; the text itself if it is not a URL. */
function authorityOf(url: string): string {
  const start = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url)?.[0].length;
  if (start === undefined) return url;
  const end = url.slice(start).search(/[/?#]/);
  return end < 0 ? url.slice(start) : url.slice(start, start + end);
}
