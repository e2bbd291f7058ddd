import { staticUpstream } from '../../../../test/parts/static-upstream.ts';

/** A virtual service for every domain that responds itself. */
export const direct = (body: string): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: direct }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: / }]
        directResponseAction: { status: 200, body: ${body} }
`;

/** The upstream of {@link forwarding} on a port of this machine. */
export const upstream = (port: number): string => staticUpstream('echo', port);

/** A virtual service for every domain that forwards to the upstream. */
export const forwarding = (options = '{}', name = 'forwarding', domains = "['*']"): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name} }
spec:
  virtualHost:
    domains: ${domains}
    options: ${options}
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`;

export const gatewayOn = (name: string, bindPort: number): string => `
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: ${name} }
spec: { bindPort: ${bindPort}, httpGateway: {} }
`;
