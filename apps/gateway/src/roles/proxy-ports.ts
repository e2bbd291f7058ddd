import {
  createProxyAdmin,
  createProxyMetrics,
  createProxyReader,
  recordTraffic,
  type AdminServer,
  type TrafficHistory,
} from '@edge-gateway/admin';
import { gatewayError } from '../error-codes.ts';
import { listenAdmin } from './admin-port.ts';
import { isLoopback } from './loopback.ts';
import { proxyAdminOptions, type ProxyAdminParts } from './proxy-admin.ts';

/** The open admin ports of a data plane. */
interface ProxyPorts {
  /** By the names of their settings. */
  readonly ports: Readonly<Record<string, number>>;
  /** The traffic of the data plane. */
  readonly history: TrafficHistory;
  close(): Promise<void>;
}

/**
 * Opens the proxy admin, and the ports for scrapers and readers that the settings have. Rejects with `ERR_GATEWAY_PORT` if one of them cannot be
 * opened, and with `ERR_GATEWAY_ADMIN_TOKEN` if other machines could read the configuration without a token; then none is open.
 */
export async function openProxyPorts(parts: ProxyAdminParts): Promise<ProxyPorts> {
  const { settings, context, dataPlane, token } = parts;
  const { metricsPort, readConfigPort, readOnlyAddress: address } = settings;
  const isLocal = isLoopback(address);
  if (readConfigPort !== undefined && !isLocal && !token) throw exposed(address);
  const refresh = dataPlane.refresh && (() => dataPlane.refresh!('stats'));
  const history = recordTraffic({ metrics: context.metrics, refresh });
  const options = { ...proxyAdminOptions(parts), history };
  // Scrapers on other machines use DNS names.
  const readable = isLocal ? options : { ...options, allowedHosts: 'any' as const };
  const ports: Record<string, number> = {};
  const servers: AdminServer[] = [];
  const close = async (): Promise<void> => {
    history.close();
    await Promise.all(servers.map((server) => server.close()));
  };
  try {
    const admin = createProxyAdmin(options);
    ports['adminPort'] = await listenAdmin(admin, 'adminPort', settings);
    servers.push(admin);
    if (metricsPort !== undefined) {
      const metrics = createProxyMetrics(readable);
      ports['metricsPort'] = await listenAdmin(metrics, 'metricsPort', { ...settings, metricsPort });
      servers.push(metrics);
    }
    if (readConfigPort !== undefined) {
      const reader = createProxyReader(readable);
      ports['readConfigPort'] = await listenAdmin(reader, 'readConfigPort', { ...settings, readConfigPort });
      servers.push(reader);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { ports, history, close };
}

function exposed(address: string): Error {
  return gatewayError(
    'ERR_GATEWAY_ADMIN_TOKEN',
    `--read-only-address ${address} is not loopback, so anyone who reaches it could read the configuration from --read-config-port.\n` +
      'Set --admin-token-file FILE with a token of at least 16 characters, or listen on 127.0.0.1.',
  );
}
