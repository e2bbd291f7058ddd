/** The document of an upstream on a port of this machine. */
export const staticUpstream = (name: string, port: number): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: ${name} }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
`;
