import express, { type Express, type Request } from 'express';
import { createAdminServer, type AdminServer } from '../admin-server.ts';
import { send } from '../http/answer.ts';
import { guard } from '../http/guard.ts';
import { readBody } from '../http/read-body.ts';
import { renderErrorAsText } from '../http/render-error.ts';
import type { Endpoint } from './endpoint.ts';
import { endpointsOf } from './endpoints.ts';
import { graphqlExplorer } from './graphql-explorer.ts';
import { help, helpText } from './help.ts';
import { indexPage } from './index-page.ts';
import type { ProxyAdminOptions } from './options.ts';

const MAX_BODY_BYTES = 4096;
/**
 * Makes the admin port of a data plane (by custom 19000): configuration, statistics, logging, draining.
 * It shows no secret value. Endpoints whose part is missing in the options (`quit`, `drain`, …) do not exist.
 *
 * @example
 * const admin = createProxyAdmin({ context, snapshot: () => current, ... });
 * const { port } = await admin.listen(19000);
 */
export function createProxyAdmin(options: ProxyAdminOptions): AdminServer {
  const endpoints = endpointsOf(options);
  const all = [...endpoints, help(endpoints)];
  const app = createApp(options);
  for (const endpoint of [...all, indexPage(all)]) mount(app, endpoint);
  app.use((_req, res) => send(res, { status: 404, body: `invalid path. ${helpText(all)}` }));
  app.use(renderErrorAsText(options.context.log.get('admin')));
  return createAdminServer(app, 'proxy admin');
}

function createApp(options: ProxyAdminOptions): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.enable('strict routing').enable('case sensitive routing');
  app.set('query parser', false);
  app.use(guard(options.allowedHosts));
  if (options.graphql) app.use('/graphql', graphqlExplorer(options.graphql));
  app.use(readBody(MAX_BODY_BYTES));
  return app;
}

function mount(app: Express, endpoint: Endpoint): void {
  app.all([...endpoint.paths], async (req, res) => {
    const parameters = parametersOf(req);
    removeUnset(parameters, endpoint);
    const changes = endpoint.changes?.(parameters) ?? false;
    const allowed = changes ? ['POST'] : ['GET', 'HEAD', 'POST'];
    if (allowed.includes(req.method)) return send(res, await endpoint.answer(parameters));
    const needed = changes ? 'POST' : 'GET or POST';
    res.setHeader('allow', allowed.join(', '));
    await send(res, { status: 405, body: `Method ${req.method} not allowed, ${needed} required.` });
  });
}

/** Those of the query, then those of a form in the body. */
function parametersOf(req: Request): URLSearchParams {
  const query = req.url.indexOf('?');
  const parameters = new URLSearchParams(query < 0 ? '' : req.url.slice(query + 1));
  if (!req.is('application/x-www-form-urlencoded') || typeof req.body !== 'string') return parameters;
  for (const [name, value] of new URLSearchParams(req.body)) if (value !== '') parameters.append(name, value);
  return parameters;
}

/** Removes the parameters that are empty: a form sends its empty fields as well. Flags count without a value. */
function removeUnset(given: URLSearchParams, { parameters = [] }: Endpoint): void {
  for (const { name, flag } of parameters) if (!flag) given.delete(name, '');
}
