import { createAdminServer, type AdminServer } from '../admin-server.ts';
import { styleEndpoint } from '../page/asset-endpoints.ts';
import { createAdminApp, type AdminAppOptions } from '../http/admin-app.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { clusters } from './clusters.ts';
import { configDump } from './config-dump.ts';
import type { ProxyAdminOptions } from './proxy-options.ts';
import { serverEndpoints } from './server.ts';
import { statsEndpoints } from './stats.ts';

/**
 * Creates the port of a data plane for probes and metrics (by convention 8081): `GET /ready`, `/metrics` for Prometheus, and `/stats`. It
 * changes nothing, shows no configuration, and requires no token.
 *
 * @example
 * const { port } = await createProxyMetrics({ context, snapshot: () => current, ... }).listen(8081);
 */
export function createProxyMetrics(options: ProxyAdminOptions): AdminServer {
  const [prometheus, stats] = statsEndpoints(options);
  const endpoints = [ready(options), { ...prometheus!, paths: ['/metrics'] }, stats!] as const;
  return createReadOnlyServer(options, { endpoints, name: 'proxy metrics' });
}

/**
 * Creates the read-only port of a data plane (by convention 8082): `GET /ready`, `/stats`, `/stats/prometheus`, `/config_dump` and
 * `/clusters`, with the parameters of the proxy admin. It changes nothing and shows no secret value.
 */
export function createProxyReader(options: ProxyAdminOptions): AdminServer {
  const { token } = options;
  const page = token ? [styleEndpoint] : [];
  const endpoints = [ready(options), ...statsEndpoints(options), configDump(options), clusters(options), ...page];
  return createReadOnlyServer(options, { endpoints, name: 'read-only proxy admin', token });
}

function ready(options: ProxyAdminOptions): Endpoint {
  return serverEndpoints(options).find(({ paths: [path] }) => path === '/ready')!;
}

function createReadOnlyServer(
  { allowedHosts, context }: ProxyAdminOptions,
  { endpoints, name, token }: Pick<AdminAppOptions, 'endpoints' | 'token'> & { readonly name: string },
): AdminServer {
  const app = createAdminApp({
    endpoints,
    log: context.log.get('admin'),
    allowedHosts,
    token,
    errorResponse: ({ message }) => ({ body: `${message}\n` }),
  });
  return createAdminServer(app, name);
}
