import {
  REDACTED,
  isSecretName,
  isToken,
  printable,
  redactPath,
  type Context,
  type Secrets,
  type Snapshot,
} from '@edge-gateway/core';
import type { ExplainedDestination } from '@edge-gateway/routing';
import { dependsOnExtAuth } from '../explain/access.ts';
import { explainRequestLimits, type ExplainedLimitedRequest } from '../explain/limits.ts';
import {
  destinationName,
  destinationsOf,
  outcomeText,
  statusOf,
  subsetText,
  upstreamName,
} from '../explain/outcome-text.ts';
import { portHint } from '../explain/port-in-host.ts';
import { attempt } from '../explain/request-arguments.ts';
import type { Expectations, RequestTest, TextMatcher } from './test-file.ts';

/** A failed expectation. */
export interface Mismatch {
  readonly field: string;
  readonly expected: string;
  /** The behavior of the gateway, with the reason if known; secret values are redacted. */
  readonly found: string;
}

/** The outcome of a test. */
export interface TestOutcome {
  readonly mismatches: readonly Mismatch[];
  /** Why external auth, which may change the outcome, was not evaluated. */
  readonly notEvaluated?: string;
}

/** What a test is run with. */
interface TestInput {
  readonly snapshot: Snapshot;
  readonly context: Context;
  readonly secrets: Secrets;
}

/** Explains the request of a test, and compares it with the expectations. No request is sent. A user is assumed to be authenticated. */
export async function runTest(
  { request, expect }: RequestTest,
  { snapshot, context, secrets }: TestInput,
): Promise<TestOutcome> {
  const { claims, user, proxy: _proxy, ...asked } = request;
  const auth = user === undefined ? { secrets } : 'assumed';
  const explained = await attempt(() => explainRequestLimits(asked, { snapshot, context, claims, user, auth }));
  const mismatches = Object.entries(CHECKS).flatMap(([field, check]) => check(expect, explained, field));
  const { access } = explained.explanation;
  const { notEvaluated } = access?.extauth ?? {};
  return { mismatches, ...(notEvaluated !== undefined && dependsOnExtAuth(access) && { notEvaluated }) };
}

type Check = (expect: Expectations, explained: ExplainedLimitedRequest, field: string) => Mismatch[];

/** Compares a text with what a test expects; `found` is shown instead of the value. */
function compare(
  field: string,
  wanted: TextMatcher | undefined,
  value: string | undefined,
  found?: string,
): Mismatch[] {
  if (wanted === undefined || fits(wanted, value)) return [];
  return [{ field, expected: matcherText(wanted), found: printable(found ?? value ?? 'none') }];
}

function fits(wanted: TextMatcher, value: string | undefined): boolean {
  if (wanted === null || value === undefined) return wanted === null && value === undefined;
  return typeof wanted === 'string' ? wanted === value : wanted.matches.test(value);
}

function matcherText(wanted: TextMatcher): string {
  if (wanted === null) return 'none';
  return typeof wanted === 'string' ? wanted : `a match of ${wanted.matches.source.slice(4, -2)}`;
}

/** A text that may be written with or without its namespace. */
function compareNamed(field: string, wanted: TextMatcher | undefined, value: string | undefined): Mismatch[] {
  const isShort = typeof wanted === 'string' && !wanted.includes('/');
  const name = isShort ? value?.slice(value.indexOf('/') + 1) : value;
  return compare(field, wanted, name, value);
}

/** The name of a route in its resource: `vs-route-1-NAME-matcher-0`. */
const ROUTE_NAME = /-route-\d+-(.+?)(?:-matcher-\d+)?$/;

const CHECKS: Readonly<Record<keyof Expectations, Check>> = {
  listener: ({ listener }, { explanation }, field) =>
    compare(field, listener, explanation.listeners.find(({ chosen }) => chosen)?.name),
  virtualService: ({ virtualService }, { explanation: { virtualHost } }, field) => {
    const { namespace, name } = virtualHost?.virtualService ?? {};
    return compareNamed(field, virtualService, name === undefined ? undefined : `${namespace}/${name}`);
  },
  domain: ({ domain }, { explanation }, field) => compare(field, domain, explanation.virtualHost?.domain),
  route: ({ route }, { explanation }, field) => {
    const found = explanation.routes.find(({ matched }) => matched)?.name;
    const own = found === undefined ? undefined : ROUTE_NAME.exec(found)?.[1];
    const isOwn = route !== undefined && own !== undefined && fits(route, own);
    return isOwn && route !== null ? [] : compare(field, route, found);
  },
  status: ({ status }, { explanation: { outcome, request, virtualHost, otherDomains } }, field) => {
    if (status === undefined || statusOf(outcome) === status) return [];
    const hint = virtualHost ? '' : portHint(otherDomains, request.host);
    const found = [outcomeText(outcome), hint].filter(Boolean).join(': ');
    return [{ field, expected: String(status), found: printable(found) }];
  },
  location: ({ location }, { explanation: { outcome } }, field) => {
    const found = outcome.type === 'redirect' ? outcome.location : undefined;
    return compare(field, location, found, found && hide(found));
  },
  body: ({ body }, { explanation: { outcome } }, field) =>
    compare(field, body, outcome.type === 'reply' ? outcome.body : undefined),
  upstream: ({ upstream }, { explanation: { outcome } }, field) => {
    if (upstream instanceof Map) return compareShares(field, upstream, destinationsOf(outcome));
    // The type of the guard does not exclude read-only maps.
    const wanted = upstream as TextMatcher | undefined;
    const destinations = destinationsOf(outcome);
    const [only, ...others] = destinations;
    const found = only ? destinations.map(destinationName).join(', ') : outcomeText(outcome);
    if (others.length > 0 && wanted !== undefined)
      return [{ field, expected: matcherText(wanted), found: printable(found) }];
    const name = only && upstreamName(only.upstream);
    return compareNamed(field, wanted, name).map((each) => ({ ...each, found: printable(found) }));
  },
  method: ({ method }, explained, field) => each(explained, (one) => compare(field, method, one.method)),
  url: ({ url }, explained, field) =>
    each(explained, (one) => compare(field, url, one.url, hide(one.url)), url && field),
  timeoutMs: ({ timeoutMs }, explained) =>
    each(explained, (one) => {
      if (timeoutMs === undefined || one.timeoutMs === timeoutMs) return [];
      return [{ field: 'timeout', expected: seconds(timeoutMs), found: seconds(one.timeoutMs) }];
    }),
  headers: ({ headers = new Map() }, explained) =>
    [...headers].flatMap(([name, wanted]) => {
      const check = (one: ExplainedDestination) => compareHeader({ name, wanted }, one, explained.granted);
      return each(explained, check, wanted === null ? undefined : `header ${name}`);
    }),
  jwt: ({ jwt }, { explanation: { access } }, field) => {
    const stages = access?.jwt ?? [];
    const failed = stages.find(({ passes }) => !passes);
    const found = stages.length === 0 ? 'none' : failed ? 'deny' : 'allow';
    return decision(field, { wanted: jwt, found, reason: failed?.reason });
  },
  rbac: ({ rbac }, { explanation: { access } }, field) => {
    const decided = access?.rbac;
    const found = decided === undefined ? 'none' : decided.allowed ? 'allow' : 'deny';
    const reason = decided === undefined ? undefined : decided.allowed ? `policy ${decided.policy}` : decided.reason;
    if (typeof rbac !== 'object') return decision(field, { wanted: rbac, found, reason });
    if (decided?.allowed && decided.policy === rbac.policy) return [];
    return [{ field, expected: `allow (policy ${rbac.policy})`, found: withReason(found, reason) }];
  },
  extauth: ({ extauth }, { explanation: { access } }, field) => {
    const { authConfig, server, fault } = access?.extauth ?? {};
    return compareNamed(field, extauth, authConfig ?? server?.upstream ?? fault);
  },
  rateLimits: ({ rateLimits }, { limits }, field) => {
    if (rateLimits === undefined) return [];
    const rules = limits.stages.flatMap((stage) => stage.rules).filter(({ applies }) => applies);
    const found = rules.map(({ rule }) => rule).sort();
    if (found.join('\n') === rateLimits.toSorted().join('\n')) return [];
    return [{ field, expected: rateLimits.join(', ') || 'none', found: printable(found.join(', ') || 'none') }];
  },
};

const hide = (text: string): string => redactPath(text, REDACTED);

const seconds = (ms: number): string => (ms === 0 ? 'none' : `${ms / 1000}s`);

const withReason = (found: string, reason: string | undefined): string =>
  printable(reason ? `${found} (${reason})` : found);

function decision(
  field: string,
  { wanted, found, reason }: { wanted: string | undefined; found: string; reason: string | undefined },
): Mismatch[] {
  return wanted === undefined || wanted === found
    ? []
    : [{ field, expected: wanted, found: withReason(found, reason) }];
}

/** Checks every destination; with a field, there must be one. */
function each(
  { explanation: { outcome } }: ExplainedLimitedRequest,
  check: (destination: ExplainedDestination) => Mismatch[],
  required?: string | null,
): Mismatch[] {
  const destinations = destinationsOf(outcome);
  if (destinations.length === 0 && required)
    return [{ field: required, expected: 'a forwarded request', found: printable(outcomeText(outcome)) }];
  return destinations.map(check).find((mismatches) => mismatches.length > 0) ?? [];
}

function compareHeader(
  { name, wanted }: { readonly name: string; readonly wanted: TextMatcher },
  { headers }: ExplainedDestination,
  granted: ReadonlySet<string>,
): Mismatch[] {
  const values = headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  const value = values.length === 0 ? undefined : values.join(', ');
  const isSecret = value !== undefined && (isSecretName(name) || isToken(value) || granted.has(value));
  const mismatches = compare(`header ${name}`, wanted, value, isSecret ? REDACTED : undefined);
  return mismatches.map((one) => (isSecretName(name) && wanted !== null ? { ...one, expected: REDACTED } : one));
}

function compareShares(
  field: string,
  wanted: ReadonlyMap<string, number>,
  destinations: readonly ExplainedDestination[],
): Mismatch[] {
  const shares = new Map<string, number>();
  const shown = new Map<string, number>();
  for (const destination of destinations) {
    const full = upstreamName(destination.upstream);
    const name = [...wanted.keys()].find((one) => one === full || one === full.slice(full.indexOf('/') + 1)) ?? full;
    add(shares, name, destination.share);
    add(shown, name + subsetText(destination), destination.share);
  }
  const isSame = shares.size === wanted.size && [...wanted].every(([name, share]) => isNear(shares.get(name), share));
  return isSame ? [] : [{ field, expected: sharesText(wanted), found: printable(sharesText(shown)) }];
}

function add(shares: Map<string, number>, name: string, share: number): void {
  shares.set(name, (shares.get(name) ?? 0) + share);
}

const isNear = (found: number | undefined, share: number): boolean =>
  found !== undefined && Math.abs(found - share) < 0.05;

const sharesText = (shares: ReadonlyMap<string, number>): string =>
  [...shares].map(([name, share]) => `${name} ${Number(share.toFixed(2))} %`).join(', ') || 'none';
