import {
  authPlaceOf,
  createLoginPaths,
  type AuthPlace,
  type Context,
  type LoginPathField,
  type Snapshot,
  type SnapshotAuthConfig,
  type VirtualHost,
} from '@edge-gateway/core';
import type { ExtAuthExtension, RouteOptions, VirtualHostOptions } from '@edge-gateway/core/schema';
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
}

interface ExplainedAuthServer {
  /** `namespace/name`. */
  readonly upstream: string;
  readonly protocol: 'gRPC' | 'HTTP';
  /** Entry of `namedExtauth`; missing for the server of the listener or the Settings. */
  readonly name?: string;
}

/** An explained request with the access checks of its route. */
export interface ExplainedRequest {
  /** `access` is missing if there are no checks, or if no route matches. */
  readonly explanation: Explanation & { readonly access?: AccessExplanation };
  /** How the login passes on the token that JWT misses. */
  readonly loginToken: LoginToken | undefined;
}

/** What a request is explained with. `claims` are assumed to be those of a verified token. */
interface ExplainInput {
  readonly snapshot: Snapshot;
  readonly context: Context;
  readonly claims: Readonly<Record<string, unknown>> | undefined;
  /** Called before the access checks, and after them if they admit the request. */
  readonly atLimits?: (stage: LimitStage, reached: LimitedRoute) => void;
}

/** A stage with rate limits. */
export type LimitStage = 'rateLimitEarly' | 'rateLimit';

/** A request at a stage with rate limits, and the route that it has there. */
export type LimitedRoute = RoutePlace & Pick<ReachedRoute, 'facts'>;

/** Explains a request, and external auth, JWT and RBAC of its route. */
export function explainWithAccess(
  request: Omit<RequestToExplain, 'admit'>,
  { snapshot, context, claims, atLimits }: ExplainInput,
): ExplainedRequest {
  const { requireRbac = false } = snapshot.settings ?? {};
  const found: { access?: AccessExplanation; loginToken?: LoginToken | undefined } = {};
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
    const access = explainAccess(
      { ...rules, requireRbac },
      {
        facts,
        now: Date.now(),
        ...(claims && { claims }),
        transform: (stage) => {
          loginPath = stage === 'early' ? loginPathOf(place, facts.path) : undefined;
          return loginPath ? ANSWERED : rejection(transform(stage));
        },
        reroute: again,
      },
    );
    const later = faultOf(place);
    if (later) {
      found.access = { ...access, ...later.access };
      return later.reply;
    }
    const extauth = extAuthOf(place);
    if (loginPath && extauth) {
      const jwt = access.jwt.filter(({ stage }) => stage === 'before external auth');
      const { removedHeaders } = access;
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
  const { access, loginToken } = found;
  return { explanation: { ...explanation, ...(access && { access }) }, loginToken };
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

/** A transformation fails with 400 or not at all. */
const rejection = (reply: ExplainedReply | undefined) => reply && ({ ...reply, status: 400 } as const);

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

function extAuthOf({ virtualHost, route, settings }: RoutePlace): ExplainedExtAuth | undefined {
  const block = blockOf(virtualHost, route.options);
  const place = block && authPlaceOf(block, settings ?? {});
  if (!place || place.type === 'off') return undefined;
  const { name = '', namespace = '' } = block?.configRef ?? {};
  const authConfig = `${namespace}/${name}`;
  if (place.type === 'missing') return { fault: place.reason };
  if (place.type === 'server') return { ...(block?.configRef && { authConfig }), server: serverOf(place) };
  const found = configOf(virtualHost, route.options);
  if (!found) return { authConfig, fault: `AuthConfig ${authConfig} does not exist` };
  const { booleanExpr } = found.spec;
  return { authConfig, steps: stepsOf(found), ...(booleanExpr && { booleanExpr }) };
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

/** Returns true if external auth, which an explanation does not call, may change the outcome. */
export function dependsOnExtAuth(access: AccessExplanation | undefined): boolean {
  const isDecidedBefore = access?.jwt.some(({ stage, passes }) => stage === 'before external auth' && !passes);
  const { steps, server } = access?.extauth ?? {};
  return (steps ?? server) !== undefined && !isDecidedBefore;
}

/** The lines of an access explanation, without indentation. */
export function accessLines(access: AccessExplanation, colors: Colors): string[] {
  const { extauth, removedHeaders, jwt, rerouted, rbac } = access;
  const mark = (good: boolean) => (good ? colors.green('✓') : colors.red('✗'));
  const lines = removedHeaders ? [`removed because only a token may set them: ${removedHeaders.join(', ')}`] : [];
  if (extauth) lines.push(extAuthLine(extauth));
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

function extAuthLine({ authConfig, server, fault, steps = [], booleanExpr }: ExplainedExtAuth): string {
  if (fault !== undefined) return `external auth: ${fault}, so the response is 500`;
  if (server) {
    const { upstream, protocol, name } = server;
    const what = `${name === undefined ? '' : `${name}, `}upstream ${upstream} over ${protocol}`;
    const config = authConfig === undefined ? '' : `, for AuthConfig ${authConfig}`;
    return `external auth decides (not called by this command): auth server ${what}${config}`;
  }
  const rule = booleanExpr ?? 'all of them, in order';
  return `external auth decides (not called by this command): AuthConfig ${authConfig}, ${rule}: ${steps.join(', ')}`;
}
