import { createAuthService, listenGrpc, listenHttp, type CheckServer, type ListenOptions } from '@edge-gateway/extauth';
import type { RoleProcess, RunningRole } from '../command-line/role.ts';
import { EXTAUTH_PORTS, HTTP_CHECKS, type ExtAuthSettings } from '../command-line/extauth-role.ts';
import { AUTH_METHODS } from '../concerns.ts';
import { portError } from './port-error.ts';
import { readServerTls } from './server-tls.ts';
import { startService, type Service, type ServiceParts } from './service.ts';

/**
 * Runs the auth server. Resolves when it listens, with the AuthConfigs of the directory. Rejects with `ERR_GATEWAY_PORT` when a port is in use, and with
 * `ERR_GATEWAY_TLS` for an unusable certificate.
 */
export async function startExtAuth(settings: ExtAuthSettings, process: RoleProcess): Promise<RunningRole> {
  const tls = readServerTls(settings);
  const options = { address: settings.address, tls, log: process.log.get('ext_authz') };
  return startService(settings, process, {
    statsPort: EXTAUTH_PORTS.statsPort,
    open: (parts) => open(settings, options, parts),
  });
}

async function open(
  settings: ExtAuthSettings,
  options: Omit<ListenOptions, 'port'>,
  { controlPlane, context }: ServiceParts,
): Promise<Service> {
  const service = createAuthService({ context, methods: AUTH_METHODS });
  const unsubscribe = controlPlane.subscribe((state) => service.update(state));
  const { grpcPort, httpPort } = settings;
  const servers: CheckServer[] = [];
  let isDraining = false;

  const close = async (): Promise<void> => {
    unsubscribe();
    for (const server of servers) server.close();
    service.close();
  };
  try {
    servers.push(await onPort(EXTAUTH_PORTS.grpcPort, { port: grpcPort, ...options }, (at) => listenGrpc(service, at)));
    if (httpPort !== undefined)
      servers.push(await onPort(HTTP_CHECKS, { port: httpPort, ...options }, (at) => listenHttp(service, at)));
  } catch (error) {
    await close();
    throw error;
  }
  const [grpc, http] = servers as [CheckServer, CheckServer?];
  return {
    facts: { grpcPort: grpc.port, ...(http && { httpPort: http.port }) },
    components: () =>
      servers.map(({ port }) => ({
        name: `extauth-${settings.address}-${port}`,
        kind: 'listener',
        state: isDraining ? 'draining' : 'ready',
      })),
    async drain(limitMs) {
      isDraining = true;
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)));
      await Promise.race([Promise.all(servers.map((server) => server.drain())), limit]);
      clearTimeout(timer);
    },
    close,
  };
}

/** Opens the port of a flag. Rejects with `ERR_GATEWAY_PORT`. */
async function onPort(
  { flag, what }: { readonly flag: string; readonly what: string },
  at: ListenOptions,
  listen: (options: ListenOptions) => Promise<CheckServer>,
): Promise<CheckServer> {
  try {
    return await listen(at);
  } catch (cause) {
    const remedy = `${flag} N (0 picks a free port)`;
    throw portError({ port: at.port, address: at.address, what, remedy, addressRemedy: '--address', cause });
  }
}
