import { silentLoggers, type ControlPlaneState, type Loggers } from '@edge-gateway/core';
import { createAdminServer, type AdminServer } from './admin-server.ts';
import { edgeSnapshot, xdsSnapshots } from './control/snapshots.ts';
import { adminError } from './error-codes.ts';
import type { AdminToken } from './http/admin-token.ts';
import { createAdminApp } from './http/admin-app.ts';
import { compactJson } from './http/endpoint-response.ts';
import type { Endpoint } from './http/endpoint.ts';
import { styleEndpoint } from './page/asset-endpoints.ts';
import { html } from './page/html.ts';
import { plainPage } from './page/layout.ts';

const LINKS = html`<p>Deprecated: use <code>/snapshots</code> of the control-plane port.</p>
<ul><li><a href="/xds">/xds</a>: what each data plane gets</li><li><a href="/api">/api</a>: the resources in use</li></ul>`;

/** The data of the developer admin. */
export interface DeveloperAdminOptions {
  /** The newest state; `undefined` before the first. */
  state(): ControlPlaneState | undefined;
  /** Default silent. */
  readonly log?: Loggers;
  /** The token that requests must have. Default: everyone who reaches the port may use it. */
  readonly token?: AdminToken | undefined;
  /** Names that the Host header may have, in addition to `localhost` and IP addresses. Default: none. */
  readonly allowedHosts?: readonly string[];
}

/**
 * Creates the deprecated developer port (by convention 10010). The application opens it only while `Settings.spec.devMode` is
 * true. Every response has `deprecation: true`; use `/snapshots` of the control-plane port.
 *
 * @example
 * const developer = createDeveloperAdmin({ state: () => controlPlane.state });
 * await developer.listen(10010);
 */
export function createDeveloperAdmin(options: DeveloperAdminOptions): AdminServer {
  const { state, log = silentLoggers, allowedHosts, token } = options;
  const show = (read: (state: ControlPlaneState) => Record<string, unknown>): Record<string, unknown> => {
    const current = state();
    return current ? read(current) : {};
  };
  const endpoints: Endpoint[] = [
    { paths: ['/'], help: 'this page', respond: () => plainPage('Developer API', LINKS) },
    styleEndpoint,
    { paths: ['/xds'], help: 'snapshots by node key', respond: () => compactJson(show(xdsSnapshots)) },
    { paths: ['/api'], help: 'the resources in use, by kind', respond: () => compactJson(show(edgeSnapshot)) },
    {
      paths: ['/xds/:key'],
      help: 'the snapshot of one node key',
      respond: (_parameters, { params }) => {
        const snapshots = show(xdsSnapshots);
        const key = String(params['key']);
        if (!Object.hasOwn(snapshots, key)) throw adminError('ERR_ADMIN_NOT_FOUND');
        return compactJson(snapshots[key]);
      },
    },
  ];
  const app = createAdminApp({
    endpoints,
    log: log.get('admin'),
    allowedHosts,
    token,
    headers: { deprecation: 'true' },
  });
  return createAdminServer(app, 'developer admin');
}
