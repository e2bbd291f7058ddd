import type { Snapshot, SnapshotAuthConfig, VirtualHost } from '@edge-gateway/core';
import type { RouteOptions, VirtualHostOptions } from '@edge-gateway/core/schema';
import { explainAccess, type ExplainedAccess } from '@edge-gateway/rbac';
import type { Explanation } from '@edge-gateway/routing';
import { printableDeep } from './printable.ts';
import type { Colors } from './terminal.ts';

/** Who is asked before a request goes anywhere, and who of them lets it in as far as can be told without asking. */
export interface AccessExplanation extends ExplainedAccess {
  readonly extauth?: ExplainedExtAuth;
}

interface ExplainedExtAuth {
  readonly authConfig: string;
  /** Missing where the snapshot has no such AuthConfig: the route answers 500. */
  readonly steps?: readonly string[];
  readonly booleanExpr?: string;
}

/** What the command line gives beside method and URL. */
export interface AccessQuestion {
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Explains external auth, JWT and RBAC of the route that an explanation has found; `undefined` where nothing guards it. */
export function accessOf(
  snapshot: Snapshot,
  { request, listeners, virtualHost, routes }: Explanation,
  { headers, claims }: AccessQuestion,
): AccessExplanation | undefined {
  const chosen = listeners.find((each) => each.chosen);
  const listener = snapshot.listeners.find(({ name }) => name === chosen?.name);
  const host = listener?.virtualHosts.find(({ name }) => name === virtualHost?.name);
  const matched = routes.find((each) => each.matched);
  const route = host?.routes.find(({ name }) => name === matched?.name);
  if (!host || !route) return undefined;
  const extauth = extAuthOf(host, route.options);
  const flat = Object.entries(headers).flatMap(([name, values]) => values.flatMap((value) => [name, value]));
  const { requireRbac = false } = snapshot.settings ?? {};
  const asked = {
    method: request.method,
    path: request.path,
    headers: flat,
    now: Date.now(),
    ...(claims && { claims }),
  };
  const access = explainAccess({ levels: [host.options, route.options], requireRbac }, asked);
  if (!extauth && access.jwt.length === 0 && !access.rbac) return undefined;
  return { ...(extauth && { extauth }), ...access };
}

function extAuthOf(host: VirtualHost, route: RouteOptions): ExplainedExtAuth | undefined {
  const { extauth } = host.options as VirtualHostOptions;
  const { configRef, disable } = route.extauth ?? extauth ?? {};
  if (disable || !configRef) return undefined;
  const { name = '', namespace = '' } = configRef;
  const authConfig = `${namespace}/${name}`;
  const found = host.authConfigs?.find(({ ref }) => ref.name === name && ref.namespace === namespace);
  if (!found) return { authConfig };
  const { booleanExpr } = found.spec;
  return { authConfig, steps: stepsOf(found), ...(booleanExpr && { booleanExpr }) };
}

/** Each step by name, with its method. */
function stepsOf({ spec }: SnapshotAuthConfig): string[] {
  return (spec.configs ?? []).map((step, i) => {
    const { name = `config_${i}`, ...methods } = step;
    const [method = 'no method', block] = Object.entries(methods).find(([, value]) => value !== undefined) ?? [];
    const mode = method === 'oauth2' || method === 'passThroughAuth' ? Object.keys(block as object)[0] : undefined;
    return `${name} (${mode ? `${method}.${mode}` : method})`;
  });
}

/** The lines of an access explanation, without indentation. */
export function accessLines(access: AccessExplanation, colors: Colors): string[] {
  const { extauth, jwt, rbac } = printableDeep(access);
  const mark = (good: boolean) => (good ? colors.green('✓') : colors.red('✗'));
  const lines = extauth ? [extAuthLine(extauth)] : [];
  for (const { stage, passes, reason, providers } of jwt) {
    lines.push(`${mark(passes)} JWT ${stage}: ${reason}`);
    for (const each of providers) lines.push(`    provider ${each.provider}: ${each.reason}`);
  }
  if (!rbac) return lines;
  if (rbac.allowed) return [...lines, `${mark(true)} RBAC: policy ${rbac.policy} lets the request in`];
  const closest = rbac.closest === undefined ? '' : `policy ${rbac.closest} came closest, but `;
  return [...lines, `${mark(false)} RBAC: access denied (403): ${closest}${rbac.reason}`];
}

function extAuthLine({ authConfig, steps, booleanExpr }: ExplainedExtAuth): string {
  if (!steps) return `external auth: AuthConfig ${authConfig} does not exist, the answer is 500`;
  const rule = booleanExpr ?? 'all of them, in order';
  return `external auth is asked (not by this command): AuthConfig ${authConfig}, ${rule}: ${steps.join(', ')}`;
}
