import { createContext, DEFAULT_SNAPSHOT_SETTINGS, silentLoggers, type Concern, type Route } from '@edge-gateway/core';
import { createRateLimit, createRedisStore } from '@edge-gateway/rate-limit';
import { createListeners, createRouter } from '@edge-gateway/routing';

// A gateway of the benchmark of limited routes, in a process of its own: `node limited-gateway.ts UPSTREAM_PORT [REDIS_URL]`.
// It sends its port when it listens.
const UPSTREAM = 'up_gw-system';
const [upstreamPort, redisUrl] = process.argv.slice(2);
const store = redisUrl ? createRedisStore({ url: redisUrl, log: silentLoggers.get('redis') }) : undefined;
const context = createContext();
const concerns: readonly Concern[] = createRateLimit(store ? { store } : {});
const router = createRouter({ concerns, context, accessLog: 'none' });
const listeners = createListeners({ router, context });

function routeOf(prefix: string, options: object): Route {
  return {
    name: prefix,
    logName: '',
    matchers: [{ prefix }],
    action: { type: 'forward', destinations: [{ upstream: UPSTREAM, weight: 1, options: {} }] },
    options,
    source: { kind: 'VirtualService', name: 'host', namespace: 'gw-system' },
  };
}

const LIMITED = {
  ratelimit: { rateLimits: [{ actions: [{ genericKey: { descriptorValue: 'orders' } }, { remoteAddress: {} }] }] },
};
const rateLimit = { requestsPerUnit: 4_294_967_295, unit: 'DAY' };
const endpoints = [{ address: '127.0.0.1', port: Number(upstreamPort), weight: 1 }];
const snapshot = {
  proxy: 'gateway-proxy',
  version: '1',
  settings: {
    ...DEFAULT_SNAPSHOT_SETTINGS,
    ratelimit: {
      descriptors: [{ key: 'generic_key', value: 'orders', descriptors: [{ key: 'remote_address', rateLimit }] }],
    },
    // An error must not be taken for a cheap request.
    ratelimitServer: { denyOnFail: true, requestTimeout: '10s' },
  },
  upstreams: [{ name: UPSTREAM, ref: { name: 'up', namespace: 'gw-system' }, spec: {}, endpoints, tls: false }],
  listeners: [
    {
      name: 'bench',
      bindAddress: '127.0.0.1',
      bindPort: 0,
      gateway: { name: 'gateway-proxy', namespace: 'gw-system' },
      ssl: false,
      options: {},
      httpOptions: {},
      routeOptions: {},
      sslConfigurations: [],
      virtualHosts: [
        {
          name: 'gw-system.host',
          virtualService: { name: 'host', namespace: 'gw-system' },
          domains: ['*'],
          options: {},
          routes: [routeOf('/limited', LIMITED), routeOf('/open', {})],
          authConfigs: [],
          rateLimitConfigs: [],
          graphqlApis: [],
        },
      ],
    },
  ],
} as const;
router.apply(snapshot as unknown as Parameters<typeof router.apply>[0]);
await listeners.apply(snapshot as unknown as Parameters<typeof listeners.apply>[0]);
process.send!({ port: listeners.addresses()[0]!.port });
process.on('disconnect', () => process.exit());
import { Session } from 'node:inspector/promises';
import { writeFileSync } from 'node:fs';
const session = new Session();
process.on('message', async (m: any) => {
  if (m.start) {
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 200 });
    await session.post('Profiler.start');
    process.send!('ok');
  }
  if (m.stop) {
    const { profile } = await session.post('Profiler.stop');
    writeFileSync(m.stop, JSON.stringify(profile));
    process.send!('ok');
  }
});
