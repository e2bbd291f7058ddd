import { createAdminServer, type AdminServer } from '../admin-server.ts';
import { createAdminApp } from '../http/admin-app.ts';
import { byPath, type Endpoint, type Parameter } from '../http/endpoint.ts';
import { actionEndpoints } from './actions.ts';
import { certs } from './certificates.ts';
import { clusters } from './clusters.ts';
import { configDump } from './config-dump.ts';
import { graphqlApis, graphqlExplorer } from './graphql-explorer.ts';
import { indexPage } from './index-page.ts';
import { logging } from './logging.ts';
import { logs } from './logs.ts';
import type { Component } from '../control/control-options.ts';
import type { ProxyAdminOptions } from './proxy-options.ts';
import type { StatusSources } from '../page/sources.ts';
import { PATHS } from '../page/paths.ts';
import { framePages, statusPages, unknownPage } from '../page/status-page.ts';
import { serverEndpoints } from './server.ts';
import { statsEndpoints } from './stats.ts';
import { trace } from './trace.ts';

const MAX_BODY_BYTES = 4096;

/**
 * Creates the admin port of a data plane (by convention 19000): configuration, statistics, logging, draining.
 * It shows no secret value. Endpoints whose part is missing in the options (`quit`, `drain`, …) do not exist.
 *
 * @example
 * const admin = createProxyAdmin({ context, snapshot: () => current, ... });
 * const { port } = await admin.listen(19000);
 */
export function createProxyAdmin(options: ProxyAdminOptions): AdminServer {
  const { allowedHosts, context, graphql, token } = options;
  const { recent } = context.log;
  const own = statusSources(options);
  const framed = framePages(own, token);
  const endpoints = [
    ...actionEndpoints(options),
    ...serverEndpoints(options),
    ...statsEndpoints(options),
    certs(options),
    clusters(options),
    configDump(options),
    logging(context.log),
    ...(recent ? [logs(context.log, recent)] : []),
    ...(graphql ? [graphqlApis(graphql, framed)] : []),
    ...(options.recordings ? [trace(options.recordings)] : []),
  ];
  const links = byPath(endpoints.filter(changesNothing)).map(({ paths: [path], help }) => ({ path, help }));
  const sources = { ...own, links };
  const [status, ...parts] = statusPages(sources, framed);
  const helpEndpoint = { paths: ['/help'], help: 'this list', respond: () => ({ body: help }) } as const;
  const all: readonly Endpoint[] = [...endpoints, status!, helpEndpoint];
  const help = helpText(all);
  const app = createAdminApp({
    endpoints: [...all, ...parts, indexPage(all, status!, framed)],
    log: context.log.get('admin'),
    allowedHosts,
    maxBodyBytes: MAX_BODY_BYTES,
    token,
    readMethods: ['GET', 'HEAD', 'POST'],
    routers: graphql ? { [PATHS.graphql]: graphqlExplorer(graphql) } : {},
    errorResponse: ({ message }) => ({ body: `${message}\n` }),
    unknownPage: unknownPage(sources, framed),
    notFound: () => ({ status: 404, body: `invalid path. ${help}` }),
    wrongMethod,
  });
  return createAdminServer(app, 'proxy admin');
}

function changesNothing({ changes, disruptive }: Endpoint): boolean {
  return !disruptive && !changes?.(new URLSearchParams());
}

function statusSources(options: ProxyAdminOptions): Omit<StatusSources, 'links'> {
  const { context, explain, graphql, info, refresh, snapshot } = options;
  return {
    title: 'Proxy',
    home: '/status',
    version: info.version,
    metrics: context.metrics,
    snapshots: () => [snapshot() ?? []].flat(),
    secrets: () => context.secrets,
    ownCertificates: options.certificates,
    components: () => componentsOf(options),
    hostStates: (upstream) => options.hostStates?.(upstream),
    refresh,
    history: options.history,
    recent: context.log.recent,
    explain,
    furtherPages: [
      ...(graphql ? [{ path: PATHS.graphql, name: 'GraphQL' }] : []),
      { path: PATHS.commands, name: 'Commands' },
    ],
    now: context.now,
  };
}

const STATES = { LIVE: 'ready', DRAINING: 'draining', PRE_INITIALIZING: 'starting', INITIALIZING: 'starting' } as const;

function componentsOf({ listeners, readiness, snapshot }: ProxyAdminOptions): Component[] {
  const open = listeners().map(({ name }): Component => ({ name, kind: 'listener', state: 'ready' }));
  return [{ name: snapshot()?.proxy ?? 'proxy', kind: 'proxy', state: STATES[readiness()] }, ...open];
}

function wrongMethod(method: string, allowed: readonly string[]): { status: number; body: string } {
  const required = allowed.includes('GET') ? 'GET or POST' : 'POST';
  return { status: 405, body: `Method ${method} not allowed, ${required} required.` };
}

/** Returns the text of `/help`; its first line is `admin commands are:`. */
function helpText(endpoints: readonly Endpoint[]): string {
  const lines = ['admin commands are:', '  /: home page', ...byPath(endpoints).flatMap(helpLines)];
  return lines.map((line) => `${line}\n`).join('');
}

function helpLines({ paths, help, changes, parameters = [] }: Endpoint): string[] {
  const post = changes?.(new URLSearchParams()) ? ' (POST)' : '';
  return [`  ${paths[0]}${post}: ${help}`, ...parameters.map((parameter) => `      ${parameterHelp(parameter)}`)];
}

function parameterHelp({ name, help, values }: Parameter): string {
  return `${name}: ${help}${values ? `; one of ${values.join(', ')}` : ''}`;
}
