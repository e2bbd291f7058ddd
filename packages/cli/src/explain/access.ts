import {
  authPlaceOf,
  createLoginPaths,
  type AuthPlace,
  type Context,
  type LoginPathField,
  type Secrets,
  type Snapshot,
  type SnapshotAuthConfig,
  type VirtualHost,
} from '@edge-gateway/core';
import type { ExtAuthExtension, RouteOptions, VirtualHostOptions } from '@edge-gateway/core/schema';
import type { AuthExplainer, ExplainedAuth } from '@edge-gateway/extauth/explain';
import { explainAccess, type AccessRules, type ExplainedAccess } from '@edge-gateway/rbac';
import {
  explainRequest,
  type Admission,
  type ExplainedReply,
  type Explanation,
  type ReachedRoute,
  type RequestToExplain,
  type RoutePlace,
} from '@edge-gateway/routing';
import { loginTokenOf, type LoginToken } from './login-token.ts';
import type { Colors } from '../output/terminal.ts';

/** External auth, JWT and RBAC of a route, and whether each allows the request as far as is known without calling anything. */
export interface AccessExplanation extends ExplainedAccess {
  readonly extauth?: ExplainedExtAuth;
}

interface ExplainedExtAuth {
  /** Missing for `customAuth`. */
  readonly authConfig?: string;
  /** The auth server that decides; missing if the gateway itself does. */
  readonly server?: ExplainedAuthServer;
  /** Why the route responds with 500. */
  readonly fault?: string;
  /** The steps that the gateway runs. */
  readonly steps?: readonly string[];
  readonly booleanExpr?: string;
  /** The field of the login that names the path of the request, to which the login itself responds. */
  readonly loginPath?: LoginPathField;
  readonly decision?: ExtAuthDecision;
  /** Why there is no decision. */
  readonly notEvaluated?: string;
}

type ExtAuthDecision =
  | { readonly allowed: true; readonly user?: string }
  | { readonly allowed: false; readonly status: number; readonly reason: string };

interface ExplainedAuthServer {
  /** `namespace/name`. */
  readonly upstream: string;
  readonly protocol: 'gRPC' | 'HTTP';
  /** Entry of `namedExtauth`; missing for the server of the listener or the Settings. */
  readonly name?: string;
}

/**
 * How external auth is evaluated: with the Secrets of the resources, by Secrets that are not read (`undefined`), or not at all
 * because it is assumed to allow the request.
 */
export type AuthEvaluation = { readonly secrets: Secrets | undefined } | 'assumed';

/** An explained request with the access checks of its route. */
export interface ExplainedRequest {
  /** `access` is missing if there are no checks, or if no route matches. */
  readonly explanation: Explanation & { readonly access?: AccessExplanation };
  /** How the login passes on the token that JWT misses. */
  readonly loginToken: LoginToken | undefined;
  /** Values that external auth adds to the request and that may come from Secrets; not part of the explanation. */
  readonly granted: ReadonlySet<string>;
}

/** What a request is explained with. `claims` are assumed to be those of a verified token. */
interface ExplainInput {
  readonly snapshot: Snapshot;
  readonly context: Context;
  readonly claims: Readonly<Record<string, unknown>> | undefined;
  readonly auth: AuthEvaluation;
  /** Called before the access checks, and after them if they admit the request. */
  readonly atLimits?: (stage: LimitStage, reached: LimitedRoute) => void;
}

/** A stage with rate limits. */
export type LimitStage = 'rateLimitEarly' | 'rateLimit';

/** A request at a stage with rate limits, and the route that it has there. */
export type LimitedRoute = RoutePlace & Pick<ReachedRoute, 'facts'>;

/** Explains a request, and external auth, JWT and RBAC of its route. */
export async function explainWithAccess(
  request: Omit<RequestToExplain, 'admit'>,
  input: ExplainInput,
): Promise<ExplainedRequest> {
  const first = explainOnce(request, input, undefined);
  if (input.auth === 'assumed' || !first.reachesAuth) return first;
  const { createAuthExplainer } = await import('@edge-gateway/extauth/explain');
  const explainer = createAuthExplainer(input.auth.secrets);
  let explained: ExplainedRequest;
  do explained = explainOnce(request, input, explainer);
  while (await explainer.settle());
  return explained;
}

interface Found {
  access?: AccessExplanation;
  loginToken?: LoginToken | undefined;
  readonly decisions: Map<SnapshotAuthConfig, ExplainedAuth | undefined>;
}

function explainOnce(
  request: Omit<RequestToExplain, 'admit'>,
  { snapshot, context, claims, atLimits }: ExplainInput,
  explainer: AuthExplainer | undefined,
): ExplainedRequest & { readonly reachesAuth: boolean } {
  const { requireRbac = false } = snapshot.settings ?? {};
  const found: Found = { decisions: new Map() };
  const admit: Admission = ({ facts, transform, reroute, ...reached }) => {
    let place: RoutePlace = reached;
    let rules = rulesOf(place);
    const fault = faultOf(place);
    if (fault) {
      found.access = fault.access;
      return fault.reply;
    }
    atLimits?.('rateLimitEarly', { ...place, facts });
    let loginPath: LoginPathField | undefined;
    const again = () => {
      const next = reroute();
      if (next && next.route !== place.route) rules = rulesOf((place = next));
      return next && rules;
    };
    const extAuth = () => {
      loginPath = loginPathOf(place, facts.path);
      if (loginPath) return ANSWERED;
      const config = embeddedConfigOf(place);
      if (!config || found.decisions.has(config)) return undefined;
      const { settings, virtualHost } = place;
      const neighbours = virtualHost.authConfigs ?? [];
      const decision = explainer?.explain({ config, neighbours, facts, settings: settings.extauth });
      found.decisions.set(config, decision);
      if (decision?.type !== 'denied') return undefined;
      const { status, body, reason } = decision;
      return { status, body, reason: `external auth rejects the request: ${reason}` };
    };
    const access = explainAccess(
      { ...rules, requireRbac },
      {
        facts,
        now: Date.now(),
        ...(claims && { claims }),
        extAuth,
        transform,
        reroute: again,
      },
    );
    const later = faultOf(place);
    if (later) {
      found.access = { ...access, ...later.access };
      return later.reply;
    }
    const extauth = extAuthOf(place, found.decisions);
    if (loginPath && extauth) {
      const { jwt, removedHeaders } = access;
      found.access = { extauth: { ...extauth, loginPath }, ...(removedHeaders && { removedHeaders }), jwt };
      return { status: 0, body: '', reason: `the login itself responds to its ${loginPath}` };
    }
    if (extauth || access.removedHeaders || access.jwt.length > 0 || access.rbac)
      found.access = { ...(extauth && { extauth }), ...access };
    found.loginToken = loginTokenOf(place, extauth?.authConfig, access);
    if (access.refusal) return { reason: 'access denied', ...access.refusal };
    atLimits?.('rateLimit', { ...place, facts });
    return undefined;
  };
  const explanation = explainRequest(snapshot, { ...request, admit }, context);
  const { access, loginToken, decisions } = found;
  const granted = Array.from(decisions.values(), (one) => (one?.type === 'allowed' ? one.granted : [])).flat();
  return {
    explanation: { ...explanation, ...(access && { access }) },
    loginToken,
    granted: new Set(granted),
    reachesAuth: decisions.size > 0,
  };
}

function rulesOf({ virtualHost, route }: RoutePlace): Omit<AccessRules, 'requireRbac'> {
  return { levels: [virtualHost.options, route.options], virtualHost };
}

/** External auth that cannot be compiled: its route responds with 500 before everything else. */
function faultOf(
  place: RoutePlace,
): { readonly access: AccessExplanation; readonly reply: ExplainedReply } | undefined {
  const extauth = extAuthOf(place);
  if (extauth?.fault === undefined) return undefined;
  return { access: { extauth, jwt: [] }, reply: { status: 500, body: '', reason: extauth.fault } };
}

/** Ends an explanation where the login responds; it is not shown. */
const ANSWERED = { status: 400, body: '' } as const;

/** Returns the field of the route's login that names a path. */
function loginPathOf({ virtualHost, route }: RoutePlace, path: string): LoginPathField | undefined {
  const [plain = ''] = path.split('?', 1);
  const logins = (configOf(virtualHost, route.options)?.spec.configs ?? []).flatMap(({ oauth2 = {} }) =>
    Object.values(oauth2 as Readonly<Record<string, object>>),
  );
  return logins.map((login) => createLoginPaths(login)(plain)).find((field) => field !== undefined);
}

function blockOf(host: VirtualHost, route: RouteOptions): ExtAuthExtension | undefined {
  const { extauth } = host.options as VirtualHostOptions;
  return route.extauth ?? extauth;
}

function configRefOf(host: VirtualHost, route: RouteOptions) {
  const { configRef, disable } = blockOf(host, route) ?? {};
  return disable ? undefined : configRef;
}

function configOf(host: VirtualHost, route: RouteOptions): SnapshotAuthConfig | undefined {
  const { name = '', namespace = '' } = configRefOf(host, route) ?? {};
  return host.authConfigs?.find(({ ref }) => ref.name === name && ref.namespace === namespace);
}

/** Returns the AuthConfig that the gateway itself evaluates. */
function embeddedConfigOf({ virtualHost, route, settings }: RoutePlace): SnapshotAuthConfig | undefined {
  const block = blockOf(virtualHost, route.options);
  const isEmbedded = block && authPlaceOf(block, settings ?? {}).type === 'embedded';
  return isEmbedded ? configOf(virtualHost, route.options) : undefined;
}

function extAuthOf(
  { virtualHost, route, settings }: RoutePlace,
  decisions: Found['decisions'] = new Map(),
): ExplainedExtAuth | undefined {
  const block = blockOf(virtualHost, route.options);
  const place = block && authPlaceOf(block, settings ?? {});
  if (!place || place.type === 'off') return undefined;
  const { name = '', namespace = '' } = block?.configRef ?? {};
  const authConfig = `${namespace}/${name}`;
  if (place.type === 'missing') return { fault: place.reason };
  if (place.type === 'server')
    return {
      ...(block?.configRef && { authConfig }),
      server: serverOf(place),
      notEvaluated: 'an auth server is not called by this command',
    };
  const found = configOf(virtualHost, route.options);
  if (!found) return { authConfig, fault: `AuthConfig ${authConfig} does not exist` };
  const { booleanExpr } = found.spec;
  const steps = { authConfig, steps: stepsOf(found), ...(booleanExpr && { booleanExpr }) };
  return { ...steps, ...evaluationOf(decisions.get(found)) };
}

function evaluationOf(decided: ExplainedAuth | undefined): Pick<ExplainedExtAuth, 'decision' | 'notEvaluated'> {
  if (decided?.type === 'notEvaluated') return { notEvaluated: decided.reason };
  if (decided?.type === 'denied')
    return { decision: { allowed: false, status: decided.status, reason: decided.reason } };
  if (!decided) return {};
  return { decision: { allowed: true, ...(decided.user !== undefined && { user: decided.user }) } };
}

function serverOf({ name, upstream, server }: Extract<AuthPlace, { type: 'server' }>): ExplainedAuthServer {
  const protocol = server.httpService ? 'HTTP' : 'gRPC';
  return { upstream: `${upstream.namespace}/${upstream.name}`, protocol, ...(name !== '' && { name }) };
}

function stepsOf({ spec }: SnapshotAuthConfig): string[] {
  return (spec.configs ?? []).map((step, i) => {
    const { name = `config_${i}`, ...methods } = step;
    const [method = 'no method', block] = Object.entries(methods).find(([, value]) => value !== undefined) ?? [];
    const mode = method === 'oauth2' || method === 'passThroughAuth' ? Object.keys(block as object)[0] : undefined;
    return `${name} (${mode ? `${method}.${mode}` : method})`;
  });
}

/** Returns true if external auth, which was not evaluated, may change the outcome. */
export function dependsOnExtAuth(access: AccessExplanation | undefined): boolean {
  const isDecidedBefore = access?.jwt.some(({ stage, passes }) => stage === 'before external auth' && !passes);
  const { steps, server, decision } = access?.extauth ?? {};
  return (steps ?? server) !== undefined && !decision && !isDecidedBefore;
}

/** The lines of an access explanation, without indentation. */
export function accessLines(access: AccessExplanation, colors: Colors): string[] {
  const { extauth, removedHeaders, jwt, rerouted, rbac } = access;
  const mark = (good: boolean) => (good ? colors.green('✓') : colors.red('✗'));
  const lines = removedHeaders ? [`removed because only a token may set them: ${removedHeaders.join(', ')}`] : [];
  if (extauth) lines.push(extAuthLine(extauth, mark));
  for (const { stage, passes, reason, providers } of jwt) {
    lines.push(`${mark(passes)} JWT ${stage}: ${reason}`);
    for (const each of providers) lines.push(`    provider ${each.provider}: ${each.reason}`);
  }
  if (rerouted) lines.push('the route was selected again, with the changed headers');
  if (!rbac) return lines;
  if (rbac.allowed) return [...lines, `${mark(true)} RBAC: policy ${rbac.policy} allows the request`];
  const closest = rbac.closest === undefined ? '' : `policy ${rbac.closest} came closest, but `;
  return [...lines, `${mark(false)} RBAC: access denied (403): ${closest}${rbac.reason}`];
}

function extAuthLine(extauth: ExplainedExtAuth, mark: (good: boolean) => string): string {
  const { authConfig, server, fault, steps = [], booleanExpr, decision, notEvaluated } = extauth;
  if (fault !== undefined) return `external auth: ${fault}, so the response is 500`;
  const undecided = `external auth decides (not evaluated${notEvaluated === undefined ? '' : `: ${notEvaluated}`})`;
  if (server) {
    const { upstream, protocol, name } = server;
    const what = `${name === undefined ? '' : `${name}, `}upstream ${upstream} over ${protocol}`;
    const config = authConfig === undefined ? '' : `, for AuthConfig ${authConfig}`;
    return `${undecided}: auth server ${what}${config}`;
  }
  const config = `AuthConfig ${authConfig}, ${booleanExpr ?? 'all of them, in order'}: ${steps.join(', ')}`;
  if (!decision) return `${undecided}: ${config}`;
  const { allowed } = decision;
  const verdict = allowed ? 'allows the request' : `rejects the request with ${decision.status}: ${decision.reason}`;
  const user = allowed && decision.user !== undefined ? ` of user ${decision.user}` : '';
  return `${mark(allowed)} external auth ${verdict}${user} (${config})`;
}
