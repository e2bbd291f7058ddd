/** Returns an Upstream with one host; a port that is a text makes it invalid. */
export const upstream = (name: string, port: number | string = 80) => ({
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Upstream',
  metadata: { name },
  spec: { static: { hosts: [{ addr: '127.0.0.1', port }] } },
});
