import {
  DEFAULT_SNAPSHOT_SETTINGS,
  createContext,
  createLoggers,
  createMetrics,
  type Secrets,
  type SecretValue,
  type Snapshot,
} from '@edge-gateway/core';
import { createProxyAdmin, type AdminServer, type ProxyAdminOptions } from '../src/index.ts';
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts';

const HOUR_MS = 3_600_000;
/** The sample's clock stands still here. */
export const NOW = Date.UTC(2026, 11, 1);

function secret(type: string, values: Record<string, string>): SecretValue {
  const data = Object.entries(values).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return { type, data: Object.fromEntries(data) };
}

/** Secrets by `namespace.name`; the values with MARKER must not be shown anywhere. */
export const SECRETS: Readonly<Record<string, SecretValue>> = {
  'gw-system.shop-tls': secret('kubernetes.io/tls', {
    'tls.crt': CERTIFICATE + PRIVATE_KEY,
    'tls.key': PRIVATE_KEY,
    'ca.crt': CERTIFICATE,
  }),
  'gw-system.shop-headers': secret('gw.vendor.io/header', { 'x-partner-key': 'MARKER-header-secret' }),
  'gw-system.oauth': secret('extauth.vendor.io/oauth', { 'client-secret': 'MARKER-oauth-secret' }),
};

export const secrets: Secrets = { get: ({ namespace, name }) => SECRETS[`${namespace}.${name}`] };

const source = { kind: 'VirtualService', namespace: 'gw-system', name: 'shop' } as const;

/** A plain and a TLS listener, a forwarding, a weighted, a redirecting and a direct-response route, two upstreams. */
export const SNAPSHOT: Snapshot = {
  proxy: 'gateway-proxy',
  version: '8f2c',
  listeners: [
    {
      name: 'listener-::-8080',
      bindAddress: '::',
      bindPort: 8080,
      gateway: { name: 'gateway-proxy', namespace: 'gw-system' },
      ssl: false,
      options: {
        accessLoggingService: {
          accessLog: [
            {
              fileSink: { path: '/dev/stdout', stringFormat: '%REQ(:METHOD)%\n' },
              filter: { statusCodeFilter: { comparison: { op: 'GE', value: { defaultValue: 500 } } } },
            },
          ],
        },
      },
      httpOptions: { httpConnectionManagerSettings: { xffNumTrustedHops: 1, streamIdleTimeout: '1m30s' } },
      routeOptions: { maxDirectResponseBodySizeBytes: 8192 },
      sslConfigurations: [],
      virtualHosts: [
        {
          name: 'gw-system.shop',
          virtualService: { name: 'shop', namespace: 'gw-system' },
          authConfigs: [],
          rateLimitConfigs: [],
          graphqlApis: [],
          domains: ['shop.example', '*.shop.example'],
          options: { headerManipulation: { responseHeadersToRemove: ['x-internal'] } },
          routes: [
            {
              name: 'gw-system.shop-route-0-pets',
              logName: 'vs:shop_route:pets',
              matchers: [
                {
                  prefix: '/pets',
                  methods: ['GET', 'POST'],
                  headers: [
                    { name: 'X-Company', value: 'acme' },
                    { name: 'authorization', value: 'MARKER-matcher' },
                    { name: 'x-debug', invertMatch: true },
                  ],
                  queryParameters: [{ name: 'v', value: '[0-9]+', regex: true }],
                },
                { exact: '/pet', caseSensitive: false },
              ],
              action: { type: 'forward', destinations: [{ upstream: 'pets_gw-system', weight: 1, options: {} }] },
              options: {
                timeout: '250ms',
                prefixRewrite: '/api/pets',
                hostRewrite: 'pets.internal',
                appendXForwardedHost: true,
                headerManipulation: {
                  requestHeadersToAdd: [
                    { headerSecretRef: { name: 'shop-headers', namespace: 'gw-system' } },
                    { header: { key: 'x-tier', value: 'gold' }, append: false },
                    { header: { key: 'Authorization', value: 'Bearer MARKER-inline' } },
                  ],
                },
              },
              source,
            },
            {
              name: 'gw-system.shop-route-1',
              logName: '',
              matchers: [{ regex: '/v[0-9]+/.*' }],
              action: {
                type: 'forward',
                destinations: [
                  { upstream: 'pets_gw-system', weight: 3, options: {} },
                  {
                    upstream: 'gone_gw-system',
                    weight: 1,
                    options: {},
                    broken: { status: 503, body: '', reason: 'upstream gw-system.gone not found' },
                  },
                ],
              },
              options: {},
              source,
            },
            {
              name: 'gw-system.shop-route-2',
              logName: '',
              matchers: [{ prefix: '/old' }],
              action: {
                type: 'redirect',
                redirect: { hostRedirect: 'new.example', responseCode: 'FOUND', httpsRedirect: true },
              },
              options: {},
              source,
            },
            {
              name: 'gw-system.shop-route-3',
              logName: '',
              matchers: [{ prefix: '/' }],
              action: { type: 'direct', status: 418, body: 'teapot' },
              options: {},
              source,
            },
          ],
        },
      ],
    },
    {
      name: 'listener-::-8443',
      bindAddress: '::',
      bindPort: 8443,
      gateway: { name: 'gateway-proxy-ssl', namespace: 'gw-system' },
      ssl: true,
      options: {},
      httpOptions: {},
      routeOptions: {},
      sslConfigurations: [
        {
          sslConfig: {
            secretRef: { name: 'shop-tls', namespace: 'gw-system' },
            parameters: { minimumProtocolVersion: 'TLSv1_2' },
          },
          sniDomains: ['shop.example'],
        },
      ],
      virtualHosts: [],
    },
  ],
  settings: DEFAULT_SNAPSHOT_SETTINGS,
  upstreams: [
    {
      name: 'pets_gw-system',
      ref: { name: 'pets', namespace: 'gw-system' },
      spec: {
        static: { hosts: [{ addr: '10.0.0.1', port: 8080 }] },
        connectionConfig: { connectTimeout: '2s', maxRequestsPerConnection: 100 },
        circuitBreakers: { maxConnections: 7 },
      },
      endpoints: [{ address: '10.0.0.1', port: 8080, weight: 1 }],
      tls: false,
    },
    {
      name: 'secure_gw-system',
      ref: { name: 'secure', namespace: 'gw-system' },
      spec: {
        static: { hosts: [{ addr: 'a.example', port: 443 }] },
        sslConfig: { secretRef: { name: 'shop-tls', namespace: 'gw-system' }, sni: 'a.example' },
      },
      endpoints: [
        { address: 'a.example', port: 443, weight: 2 },
        { address: '::1', port: 443, weight: 1 },
      ],
      tls: true,
    },
  ],
};

/** The lines a logger of {@link sampleOptions} wrote. */
export interface LogLines {
  readonly lines: string[];
}

/** Options of a proxy admin that shows the sample. */
export function sampleOptions(more: Partial<ProxyAdminOptions> = {}): ProxyAdminOptions & LogLines {
  const lines: string[] = [];
  const log = createLoggers({ destination: { write: (line) => void lines.push(line) } });
  return {
    lines,
    context: createContext({ log, metrics: createMetrics(), secrets, now: () => NOW }),
    snapshot: () => SNAPSHOT,
    lastUpdated: () => new Date(NOW),
    listeners: () => [{ name: 'listener-::-8080', address: '::', port: 18_080 }],
    readiness: () => 'LIVE',
    info: { version: '1.2.3', startedAt: NOW - HOUR_MS, commandLineOptions: { config: '/etc/gateway' } },
    ...more,
  };
}

/** A listening admin port. */
export interface TestPort {
  readonly port: number;
  /** Sends one request; `method` is GET unless given. */
  request(path: string, init?: RequestInit): Promise<{ status: number; headers: Headers; text: string }>;
  close(): Promise<void>;
}

/** Listens on a free port. */
export async function listen(server: AdminServer): Promise<TestPort> {
  const { port } = await server.listen(0);
  return {
    port,
    close: () => server.close(),
    async request(path, init) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}

/** A proxy admin of the sample, listening. */
export function proxyAdmin(more: Partial<ProxyAdminOptions> = {}): Promise<TestPort> {
  return listen(createProxyAdmin(sampleOptions(more)));
}
