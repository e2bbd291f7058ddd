import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { startForwardingApi, type ForwardingApi } from '../../../../test/parts/forwarding-api.ts';
import { createClusterClient, type ClusterClient } from '../../src/client/cluster-client.ts';
import { forwardPort, type PortForward } from '../../src/client/port-forward.ts';

const NAMESPACE = 'gw-system';
const POD = 'gateway-proxy-0';

describe('forwardPort', () => {
  let api: ForwardingApi;
  let pod: Server;
  let client: ClusterClient;
  let forward: PortForward | undefined;

  before(async () => {
    api = await startForwardingApi({ portOf: (name, port) => (name === POD ? port : undefined) });
    pod = createServer((request, response) => {
      if (request.method === 'GET') return void response.end(`hello ${request.url}`);
      request.pipe(response);
    }).listen(0, '127.0.0.1');
    await once(pod, 'listening');
    client = await createClusterClient({ kubeconfig: [api.kubeconfig] });
  });

  afterEach(async () => {
    await forward?.close();
    forward = undefined;
  });

  after(async () => {
    await client?.close();
    await api?.close();
    pod.closeAllConnections();
    pod.close();
  });

  const open = async (port: number, name = POD): Promise<PortForward> =>
    (forward = await forwardPort(client, { namespace: NAMESPACE, pod: name, port }));
  const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

  it('forwards HTTP requests to a pod, with the credentials of the client', async () => {
    const { port } = await open(portOf(pod));
    const response = await fetch(`http://127.0.0.1:${port}/ready`);
    expect(await response.text()).to.equal('hello /ready');
    expect(api.forwarded.at(-1)).to.deep.equal({
      url: `/api/v1/namespaces/${NAMESPACE}/pods/${POD}/portforward?ports=${portOf(pod)}`,
      authorization: 'Bearer secret-token',
    });
  });

  it('forwards megabytes in both directions', async () => {
    const { port } = await open(portOf(pod));
    const body = Buffer.alloc(8 * 2 ** 20, 'x');
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
    expect(Buffer.from(await response.arrayBuffer()).equals(body)).to.equal(true);
  });

  it('closes a connection and names the problem if nothing listens in the pod', async () => {
    const unused = createTcpServer().listen(0, '127.0.0.1');
    await once(unused, 'listening');
    const closed = portOf(unused);
    unused.close();
    await once(unused, 'close');
    const opened = await open(closed);
    const failure = await fetch(`http://127.0.0.1:${opened.port}/`).catch((error: Error) => error);
    expect(failure).to.be.an('error');
    expect(opened.problem).to.match(/^gw-system\/gateway-proxy-0:\d+: .*ECONNREFUSED/);
  });

  it('names the problem if the API server rejects the request', async () => {
    const opened = await open(80, 'missing');
    await fetch(`http://127.0.0.1:${opened.port}/`).catch(() => undefined);
    expect(opened.problem).to.match(/^gw-system\/missing:80: /);
  });
});
