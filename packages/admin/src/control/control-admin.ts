import express, { type Express, type RequestHandler } from 'express';
import { createAdminServer, type AdminServer } from '../admin-server.ts';
import { send } from '../http/answer.ts';
import { adminError } from '../error-codes.ts';
import { guard } from '../http/guard.ts';
import { readBody } from '../http/read-body.ts';
import { renderErrorAsJson } from '../http/render-error.ts';
import { components } from './components.ts';
import type { ControlEndpoint, ControlEndpointFactory } from './endpoint.ts';
import { indexPage } from './index-page.ts';
import { logging } from './logging.ts';
import { metrics } from './metrics.ts';
import type { ControlAdminOptions } from './options.ts';
import { problems } from './problems.ts';
import { createProfiler } from './profiler.ts';
import { pprofHeap, pprofIndex, pprofProfile } from './pprof.ts';
import { snapshotsEdge } from './snapshots-edge.ts';
import { snapshotsInput } from './snapshots-input.ts';
import { snapshotsProxies } from './snapshots-proxies.ts';
import { snapshotsXds } from './snapshots-xds.ts';
import { version } from './version.ts';
import { zpages } from './zpages.ts';

const MAX_BODY_BYTES = 1024;

const FACTORIES: readonly ControlEndpointFactory[] = [
  components,
  pprofIndex,
  logging,
  metrics,
  problems,
  snapshotsEdge,
  snapshotsInput,
  snapshotsProxies,
  snapshotsXds,
  version,
  zpages,
];

/**
 * Makes the port of the control plane (by custom 9091): snapshots of what is known at each step, metrics, log level,
 * profiles, health of the components. It shows no secret value.
 *
 * @example
 * const admin = createControlAdmin({ state: () => controlPlane.state, loggers, metrics, version, components: () => [] });
 * const { port } = await admin.listen(9091);
 */
export function createControlAdmin(options: ControlAdminOptions): AdminServer {
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.enable('strict routing').enable('case sensitive routing');
  app.set('query parser', false);
  app.use(guard(options.allowedHosts));
  app.use(readBody(MAX_BODY_BYTES));
  const profiler = createProfiler();
  const endpoints = FACTORIES.map((factory) => factory(options));
  const all = [...endpoints, pprofProfile(profiler), pprofHeap(profiler)];
  for (const endpoint of [...all, indexPage(all)]) mount(app, endpoint);
  app.use((_req, _res, next) => next(adminError('ERR_ADMIN_NOT_FOUND')));
  app.use(renderErrorAsJson(options.loggers.get('admin')));
  return createAdminServer(app, 'control-plane admin');
}

function mount(app: Express, { paths, get, put }: ControlEndpoint): void {
  const route = app.route([...paths]);
  route.get(async (req, res) => send(res, await get(req)));
  if (put) route.put((req, res) => send(res, put(parseJson(req.body))));
  route.all(refuseMethod(put ? 'GET, HEAD, PUT' : 'GET, HEAD'));
}

function parseJson(text: unknown): unknown {
  if (typeof text !== 'string' || text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw adminError('ERR_ADMIN_BAD_BODY', { cause });
  }
}

function refuseMethod(allow: string): RequestHandler {
  return (_req, _res, next) => next(adminError('ERR_ADMIN_METHOD_NOT_ALLOWED', { headers: { allow } }));
}
