import type { Kind } from '@edge-gateway/core';
import { createAuthService, createPolicyWatch, listenGrpc, listenHttp } from '@edge-gateway/extauth';
import type { RoleProcess, RunningRole } from '../command-line/role.ts';
import { EXTAUTH_PORTS, HTTP_CHECKS, type ExtAuthSettings } from '../command-line/extauth-role.ts';
import { AUTH_METHODS, POLICIES } from '../concerns.ts';
import { readServerTls, serverCertificates } from './server-tls.ts';
import { openServicePorts, type ServicePort } from './service-ports.ts';
import { startService, type Service, type ServiceParts } from './service.ts';

/** AuthConfigs, and what they refer to. */
export const EXTAUTH_KINDS: ReadonlySet<Kind> = new Set<Kind>(['Settings', 'AuthConfig', 'Secret', 'ConfigMap']);

/**
 * Runs the auth server. Resolves when it listens, with the AuthConfigs of the resources. Rejects with `ERR_GATEWAY_PORT` when a port is in use, and with
 * `ERR_GATEWAY_TLS` for an unusable certificate.
 */
export async function startExtAuth(settings: ExtAuthSettings, process: RoleProcess): Promise<RunningRole> {
  const place = { address: settings.address, tls: readServerTls(settings) };
  return startService(settings, process, {
    statsPort: EXTAUTH_PORTS.statsPort,
    kinds: EXTAUTH_KINDS,
    certificates: serverCertificates(place.tls, settings),
    open: (parts) => open(settings, place, parts),
  });
}

async function open(
  { grpcPort, httpPort }: ExtAuthSettings,
  place: Parameters<typeof openServicePorts>[1],
  { controlPlane, context }: ServiceParts,
): Promise<Service> {
  const service = createAuthService({ context, methods: AUTH_METHODS });
  const policies = createPolicyWatch({ compiler: POLICIES, observe: controlPlane.observe });
  const unsubscribe = controlPlane.subscribe((state) => {
    service.update(state);
    void policies.update(state);
  });
  const log = context.log.get('ext_authz');
  const close = async (): Promise<void> => {
    unsubscribe();
    policies.close();
    service.close();
  };
  const ports: ServicePort[] = [
    { flag: EXTAUTH_PORTS.grpcPort, port: grpcPort, listen: (at) => listenGrpc(service, { ...at, log }) },
  ];
  if (httpPort !== undefined)
    ports.push({ flag: HTTP_CHECKS, port: httpPort, listen: (at) => listenHttp(service, { ...at, log }) });
  const opened = await openServicePorts('extauth', place, ports).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const [grpc, http] = opened.servers;
  return {
    facts: { grpcPort: grpc!.port, ...(http && { httpPort: http.port }) },
    components: opened.components,
    drain: opened.drain,
    async close() {
      opened.close();
      await close();
    },
  };
}
