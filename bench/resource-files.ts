// Resources of the benchmarks that read a directory.

/** An Upstream with one host on this machine. */
export const upstreamFile = (port: number): string => `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: {name: echo, namespace: gw-system}
spec: {static: {hosts: [{addr: 127.0.0.1, port: ${port}}]}}
`;

/** A VirtualService for one host: `/api` is forwarded, `/health` responds with the status. */
export const serviceFile = (i: number, status: number): string => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata:
  name: service-${i}
  namespace: gw-system
spec:
  virtualHost:
    domains:
      - host-${i}.example.com
    routes:
      - matchers:
          - prefix: /api
        routeAction:
          single:
            upstream:
              name: echo
              namespace: gw-system
        options:
          prefixRewrite: /
      - matchers:
          - exact: /health
        directResponseAction:
          status: ${status}
          body: ok
`;

/** A VirtualService for every host with many forwarding routes, the last of which responds with 204 to `/last`. */
export function routesFile(routes: number): string {
  const upstream = '{name: echo, namespace: gw-system}';
  const lines = Array.from({ length: routes - 1 }, (_, i) => {
    const action = `routeAction: {single: {upstream: ${upstream}}}`;
    return `    - {matchers: [{prefix: /api/v1/service-${i}/}], ${action}, options: {prefixRewrite: /}}`;
  });
  return `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: {name: many, namespace: gw-system}
spec:
  virtualHost:
    domains: ['*']
    routes:
${lines.join('\n')}
    - {matchers: [{exact: /last}], directResponseAction: {status: 204}}
`;
}
