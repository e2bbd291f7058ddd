import { REDACTED, hiddenLiterals, isSecretName, isToken, printable, redact, redactPath } from '@edge-gateway/core';
import type {
  AppliedOption,
  ExplainedDestination,
  Explanation,
  MatcherVerdict,
  Outcome,
  RouteVerdict,
} from '@edge-gateway/routing';
import { accessLines, dependsOnExtAuth, type AccessExplanation } from './access.ts';
import type { MissingToken } from './login-token.ts';
import type { RejectedResource } from './rejected-resources.ts';
import type { MissingListener } from './served.ts';
import { portHint } from './port-in-host.ts';
import { optionText } from './option-text.ts';
import { subsetText } from './outcome-text.ts';
import type { Colors } from '../output/terminal.ts';

const hide = (path: string): string => redactPath(path, REDACTED);

/** Returns an explanation without the secret values in options and headers; `granted` are values that external auth adds. */
export function withoutSecrets<T extends Explanation>(explanation: T, granted: ReadonlySet<string>): T {
  const { request, options, effects, outcome } = explanation;
  return {
    ...explanation,
    request: { ...request, path: hide(request.path) },
    options: options.map((one) => ({ ...one, value: redact(one.value) })),
    effects: effects.map((one) => ({ ...one, effect: hide(one.effect) })),
    outcome: outcomeWithoutSecrets(
      outcome,
      new Set([...hiddenLiterals(options.map(({ value }) => value)), ...granted]),
    ),
  };
}

/** Shorter texts are hidden only as whole values. */
const MIN_LITERAL = 3;

function outcomeWithoutSecrets(outcome: Outcome, literals: ReadonlySet<string>): Outcome {
  if (outcome.type === 'reply') return outcome;
  if (outcome.type === 'redirect') return { ...outcome, location: hide(outcome.location) };
  const destinations = outcome.destinations.map((one) => ({
    ...one,
    url: hide(one.url),
    headers: one.headers.map(
      ([name, value]) =>
        [name, isSecretName(name) || isToken(value) || holdsAny(literals, value) ? REDACTED : value] as const,
    ),
  }));
  return { ...outcome, destinations };
}

function holdsAny(literals: ReadonlySet<string>, value: string): boolean {
  if (literals.has(value)) return true;
  return [...literals].some((text) => text.length >= MIN_LITERAL && value.includes(text));
}

/** A copy of plain data in which control characters in text are visible. */
function printableDeep<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, inner: unknown) =>
    typeof inner === 'string' ? printable(inner) : inner,
  ) as T;
}

interface ShownExplanation extends Explanation {
  readonly access?: AccessExplanation;
  readonly rejected?: readonly RejectedResource[];
  /** Listeners that may have been meant for the request. */
  readonly unserved?: readonly MissingListener[];
  /** How the login passes on the token that JWT misses. */
  readonly missingToken?: MissingToken | undefined;
}

/** An explanation as text: listener, virtual host, routes, options, access, result. */
export function renderExplanation(explanation: ShownExplanation, colors: Colors): string {
  const shown = printableDeep(explanation);
  const { request, listeners, unserved = [], routes, options, access, rejected = [] } = shown;
  const listed = (isListed: (one: RejectedResource) => boolean | undefined) =>
    rejected.filter(isListed).map((one) => mark(false, rejectedLine(one), colors));
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    [
      'Listener',
      [
        ...listeners.map(({ chosen, name, reason }) => mark(chosen, `${name}: ${reason}`, colors)),
        ...(shown.needsClientCertificate ? [NEEDS_CERTIFICATE] : []),
        ...unserved.map((one) => mark(false, unservedLine(one), colors)),
      ],
    ],
    ['Virtual host', hostLines(shown, colors)],
    ['Routes, in order', routes.flatMap((route) => routeLines(route, colors))],
    ['Options, in order', options.map(optionLine)],
    ['Effects on this request, in order', shown.effects.map(({ option, effect }) => `${option}: ${effect}`)],
    ['Access (no signature is verified here)', access ? accessLines(access, colors) : []],
    ['Rejected resources', listed(({ keeps, lacksRoutes }) => !keeps && !lacksRoutes)],
    ['Routes that are missing', listed(({ lacksRoutes }) => lacksRoutes)],
    ['Served as before', listed(({ keeps }) => keeps)],
    [resultTitle(access), resultLines(shown)],
  ];
  const shownSections = sections.filter(([, lines]) => lines.length > 0);
  const text = shownSections.flatMap(([title, lines]) => ['', title, ...lines.map(indent)]);
  const target = request.path === '*' ? request.path : `${request.host}${request.path}`;
  return [colors.bold(`${request.method} ${target}`), ...text].join('\n');
}

const NEEDS_CERTIFICATE = 'a client certificate is required: without one the TLS connection fails';

function unservedLine({ name, reason, resources = [] }: MissingListener): string {
  const others = resources.filter(({ kind, namespace, name }) => !reason.includes(`${kind}/${namespace}/${name}`));
  const about = others.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`);
  return `${name}: it is not served: ${reason}${about.length > 0 ? ` (${about.join(', ')})` : ''}`;
}

function rejectedLine({ kind, namespace, name, serves, keeps, lacksRoutes, reason }: RejectedResource): string {
  if (keeps || lacksRoutes) return `${kind} ${namespace}/${name}: ${reason}`;
  const effect = serves ? 'its last good version is served' : 'it may have been meant to match the request';
  return `${kind} ${namespace}/${name}: ${effect}${reason && `: ${reason}`}`;
}

/** Without a decision of external auth, the result is only valid if it allows the request. */
function resultTitle(access: AccessExplanation | undefined): string {
  const isConditional = dependsOnExtAuth(access) && !access?.extauth?.loginPath;
  return isConditional ? 'Result, if external auth allows the request' : 'Result';
}

const mark = (good: boolean, text: string, colors: Colors): string =>
  good ? `${colors.green('✓')} ${text}` : `${colors.red('✗')} ${text}`;

function hostLines({ request, virtualHost, otherDomains }: Explanation, colors: Colors): string[] {
  if (virtualHost) {
    const { name, domain, virtualService } = virtualHost;
    const where = `VirtualService ${virtualService.namespace}/${virtualService.name}`;
    return [mark(true, `${name}: the domain ${domain} is the best match (${where})`, colors)];
  }
  return otherDomains.map((domain) => {
    const hint = portHint([domain], request.host);
    return mark(false, `the domain ${domain} does not match${hint && `: ${hint}`}`, colors);
  });
}

function routeLines({ name, source, matched, matchers }: RouteVerdict, colors: Colors): string[] {
  const where = `${source.kind} ${source.namespace}/${source.name}`;
  return [mark(matched, `${name} (${where})`, colors), ...matchers.flatMap(matcherLines)];
}

function matcherLines({ path, mismatches }: MatcherVerdict): string[] {
  if (mismatches.length === 0) return [`    ${path}: matches`];
  const why = mismatches.map(({ on, wanted, found }) =>
    on === 'path' ? `the path is ${found}` : `${on} is ${found ?? 'absent'}, wanted ${wanted}`,
  );
  return [`    ${path}: ${why.join('; ')}`];
}

function optionLine({ option, from, destination, applies, value }: AppliedOption): string {
  const level = destination === undefined ? from : `${from} ${destination}`;
  return `${option} of the ${level}${applies ? '' : ' (replaced by a more specific one)'}: ${optionText(option, value)}`;
}

/** A token that the login adds is only missing in the explanation, so the rejection is not the result. */
function resultLines({ access, missingToken, outcome }: ShownExplanation): string[] {
  const { authConfig, loginPath } = access?.extauth ?? {};
  if (loginPath) return [`the login of AuthConfig ${authConfig} responds itself: the path is its ${loginPath}`];
  if (missingToken === undefined) return outcomeLines(outcome);
  if ('header' in missingToken)
    return [
      `the login adds the token in header ${missingToken.header}; to explain the request with it, give --claims JSON`,
    ];
  const { cookie, outcome: after } = missingToken;
  const lacks = `the request lacks the cookie ${cookie}: the login sets it, and a browser sends it after the login`;
  if (after) return [lacks, 'a browser then gets:', ...outcomeLines(after).map(indent)];
  return [lacks, 'RBAC then decides by the claims of the token; to explain the request with them, give --claims JSON'];
}

const indent = (line: string): string => `  ${line}`;

/** The host that the request names, and what DNS decides. */
function namedHostLines({ namedHost, reply }: ExplainedDestination): string[] {
  if (!namedHost) return [];
  const { name, port, from, needsDns } = namedHost;
  const lines = [`  host ${name}, port ${port} (${from})`];
  if (!needsDns || reply) return lines;
  const unless = `503 if ${name} cannot be resolved, 403 if none of its addresses is allowed`;
  return [...lines, `  depends on DNS: ${unless}`];
}

/** The host that the request determines, and those that are not used. */
function destinationHostLines({ host, hosts }: ExplainedDestination): string[] {
  const out = hosts.flatMap(({ address, reason }) =>
    reason === undefined ? [] : `  host ${address} is not used: ${reason}`,
  );
  return host ? [`  host ${host.address}: ${host.reason}`, ...out] : out;
}

function outcomeLines(outcome: Outcome): string[] {
  if (outcome.type === 'redirect') return [`redirect ${outcome.status} to ${outcome.location}`];
  if (outcome.type === 'reply') {
    const body = outcome.body && `: ${JSON.stringify(outcome.body)}`;
    if (outcome.status === 0) return [`no response (${outcome.reason})${body}`];
    return [`respond with ${outcome.status} (${outcome.reason})${body}`];
  }
  return outcome.destinations.flatMap((destination) => {
    const { upstream, share, reply, url, method, body, timeoutMs, headers } = destination;
    const part = `upstream ${upstream}${subsetText(destination)} (${Number(share.toFixed(2))} % of the requests)`;
    const hosts = [...namedHostLines(destination), ...destinationHostLines(destination)];
    if (reply) return [`${part}: responds with ${reply.status} (${reply.reason})`, ...hosts];
    return [
      part,
      ...hosts,
      `  ${method} ${url}`,
      ...(body === undefined ? [] : [`  body: ${body}`]),
      `  timeout: ${timeoutMs === 0 ? 'none' : `${timeoutMs / 1000} s`}`,
      ...headers.map(([name, value]) => `  ${name}: ${value}`),
    ];
  });
}
