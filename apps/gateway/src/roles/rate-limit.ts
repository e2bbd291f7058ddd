import {
  createMemoryStore,
  createRateLimitService,
  listenRateLimitGrpc,
  listenRateLimitHttp,
  type RateLimitService,
  type Store,
} from '@edge-gateway/rate-limit';
import type { Context, Kind } from '@edge-gateway/core';
import { RATE_LIMIT_PORTS, type RateLimitSettings } from '../command-line/rate-limit-role.ts';
import type { RoleProcess, RunningRole } from '../command-line/role.ts';
import { rateLimitStore } from './rate-limit-store.ts';
import { readServerTls, serverCertificates } from './server-tls.ts';
import { openServicePorts } from './service-ports.ts';
import { startService, type Service, type ServiceParts } from './service.ts';

/** The kinds with rules, and those that decide about names and limits of a `ratelimitBasic`. No Secrets. */
export const RATE_LIMIT_KINDS: ReadonlySet<Kind> = new Set<Kind>([
  'Settings',
  'RateLimitConfig',
  'Gateway',
  'MatchableHttpGateway',
  'VirtualService',
  'RouteTable',
  'ListenerOption',
  'HttpListenerOption',
  'VirtualHostOption',
  'RouteOption',
]);

/**
 * Runs the rate limit server. Resolves when it listens, with the rules of the resources. Rejects with `ERR_GATEWAY_PORT` when a port is
 * in use, and with `ERR_GATEWAY_TLS` for an unusable certificate.
 */
export async function startRateLimit(settings: RateLimitSettings, process: RoleProcess): Promise<RunningRole> {
  const place = { address: settings.address, tls: readServerTls(settings) };
  let service: RateLimitService | undefined;
  return startService(settings, process, {
    statsPort: RATE_LIMIT_PORTS.statsPort,
    kinds: RATE_LIMIT_KINDS,
    certificates: serverCertificates(place.tls, settings),
    pages: [
      {
        path: '/rlconfig',
        help: 'the rules in use, one per line',
        text: () => (service?.ruleLines() ?? []).map((line) => `${line}\n`).join(''),
      },
    ],
    open(parts) {
      const store = rateLimitStore(settings, parts.context) ?? createStore(parts.context);
      service = createRateLimitService({ context: parts.context, store });
      return open(settings, { service, store, place }, parts);
    },
  });
}

interface Counting {
  readonly service: RateLimitService;
  readonly store: Store;
  readonly place: Parameters<typeof openServicePorts>[1];
}

async function open(
  { grpcPort, httpPort }: RateLimitSettings,
  { service, store, place }: Counting,
  { controlPlane, context }: ServiceParts,
): Promise<Service> {
  const unsubscribe = controlPlane.subscribe((state) => service.update(state));
  const log = context.log.get('filter');
  const close = async (): Promise<void> => {
    unsubscribe();
    store.close();
  };
  const opened = await openServicePorts('rate-limit', place, [
    { flag: RATE_LIMIT_PORTS.grpcPort, port: grpcPort, listen: (at) => listenRateLimitGrpc(service, { ...at, log }) },
    { flag: RATE_LIMIT_PORTS.httpPort, port: httpPort, listen: (at) => listenRateLimitHttp(service, { ...at, log }) },
  ]).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const [grpc, http] = opened.servers;
  return {
    facts: { grpcPort: grpc!.port, httpPort: http!.port },
    components: opened.components,
    drain: opened.drain,
    async close() {
      opened.close();
      await close();
    },
  };
}

function createStore({ log }: Context): Store {
  let hasWarned = false;
  return createMemoryStore({
    onEvict(keys) {
      if (!hasWarned) log.get('filter').warn({ keys }, 'too many rate limit counters, oldest evicted');
      hasWarned = true;
    },
  });
}
