import express, { type RequestHandler } from 'express';
import { silentLoggers } from '@edge-gateway/core';
import { createAdminServer, type AdminServer } from '../admin-server.ts';
import { adminError } from '../error-codes.ts';
import { guard } from '../http/guard.ts';
import { renderErrorAsJson } from '../http/render-error.ts';
import { api } from './api.ts';
import { home } from './home.ts';
import type { DeveloperAdminOptions } from './options.ts';
import { xds, xdsOf } from './xds.ts';

/**
 * Makes the deprecated developer port (by custom 10010). The application opens it only while `Settings.spec.devMode` is
 * true. Every response has `deprecation: true`; use `/snapshots` of the control-plane port.
 *
 * @example
 * const developer = createDeveloperAdmin({ state: () => controlPlane.state });
 * await developer.listen(10010);
 */
export function createDeveloperAdmin(options: DeveloperAdminOptions): AdminServer {
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.enable('strict routing').enable('case sensitive routing');
  app.set('query parser', false);
  app.use((_req, res, next) => {
    res.setHeader('deprecation', 'true');
    next();
  });
  app.use(guard(options.allowedHosts));
  app.route('/').get(home).all(refuseMethod);
  app.route('/xds').get(xds(options)).all(refuseMethod);
  app.route('/xds/:key').get(xdsOf(options)).all(refuseMethod);
  app.route('/api').get(api(options)).all(refuseMethod);
  app.use((_req, _res, next) => next(adminError('ERR_ADMIN_NOT_FOUND')));
  app.use(renderErrorAsJson((options.log ?? silentLoggers).get('admin')));
  return createAdminServer(app, 'developer admin');
}

const refuseMethod: RequestHandler = (_req, _res, next) =>
  next(adminError('ERR_ADMIN_METHOD_NOT_ALLOWED', { headers: { allow: 'GET, HEAD' } }));
