import { Agent, request } from 'node:http';
import { staticUpstream } from '../parts/static-upstream.ts';
import type { GatewayProcess } from '../../apps/gateway/test/gateway-process.ts';
import type { Flow } from './traffic.ts';

/** A virtual service for the domain `host-<i>` that responds to `/version` with its version, and forwards everything else. */
export const service = (i: number, version: string): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: service-${i} }
spec:
  virtualHost:
    domains: ['host-${i}']
    routes:
      - matchers: [{ exact: /version }]
        directResponseAction: { status: 200, body: '${version}' }
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`;

/** The upstream of all services. */
export const echoUpstream = (port: number): string => staticUpstream('echo', port);

/** So many services in one text. */
export function services(count: number, version: string): string {
  return Array.from({ length: count }, (_, i) => service(i, version)).join('---');
}

/** Resolves with status and body; rejects if there is no response. */
export function get(port: number, host: string, path: string, agent?: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port, path, headers: { host }, ...(agent && { agent }) }, (res) => {
      let body = '';
      res.on('data', (chunk) => (body += chunk));
      res.on('end', () => resolve(`${res.statusCode} ${body}`));
      res.on('error', reject);
    });
    req.setTimeout(20_000, () => req.destroy(new Error('no response')));
    req.on('error', reject).end();
  });
}

/** The port that serves. */
export const portOf = (proxy: GatewayProcess): number => Number(new URL(proxy.url).port);

/** Status and version of a service at a proxy, or why there is no response. */
export const versionOf = (proxy: GatewayProcess, i: number): Promise<string> =>
  get(portOf(proxy), `host-${i}`, '/version').catch((error: Error) => error.message);

/** Forwarded requests to all services of a proxy in turn, over connections that are kept open. */
export function forwarded(proxy: GatewayProcess, count: number): Flow {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const port = portOf(proxy);
  let n = 0;
  return {
    name: 'forwarded',
    perSecond: 200,
    usual: ['served'],
    async send() {
      const path = `/${n++}`;
      const got = await get(port, `host-${n % count}`, path, agent);
      return got === `200 ${path}` ? 'served' : `another answer: ${got}`;
    },
    stop: async () => agent.destroy(),
  };
}
