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
