import { createServer, type Server } from 'node:http';
import { connect as connectTcp, createServer as createTcpServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { WebSocketServer } from 'ws';
import { createClusterClient, type ClusterClient } from '../../src/client/cluster-client.ts';
import { forwardPort } from '../../src/client/port-forward.ts';
import { kubeconfigOf } from '../scripted-api.ts';

/** What the API server and the kubelet do: joins a WebSocket with a port of 127.0.0.1. */
function servePortForward(server: Server): { readonly requests: { url: string; authorization: string | undefined }[] } {
  const requests: { url: string; authorization: string | undefined }[] = [];
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => [...offered][0]! });
  server.on('upgrade', (request, socket, head) => {
    const url = new URL(request.url!, 'http://here');
    requests.push({ url: request.url!, authorization: request.headers.authorization });
    if (!url.pathname.startsWith('/api/v1/namespaces/gw-system/pods/'))
      return void socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
    sockets.handleUpgrade(request, socket, head, (channel) => {
      const port = Number(url.searchParams.get('ports'));
      const number = Buffer.from([port & 255, port >> 8]);
      for (const stream of [0, 1]) channel.send(Buffer.concat([Buffer.from([stream]), number]));
      const upstream = connectTcp(port, '127.0.0.1');
      upstream.on('data', (data) => channel.send(Buffer.concat([Buffer.from([0]), data])));
      upstream.on('error', (error) => channel.send(Buffer.concat([Buffer.from([1]), Buffer.from(error.message)])));
      upstream.on('close', () => channel.close());
      channel.on('message', (data: Buffer) => void (data[0] === 0 && upstream.write(data.subarray(1))));
      channel.on('close', () => upstream.destroy());
    });
  });
  return { requests };
}

describe('forwardPort', () => {
  let api: Server;
  let served: ReturnType<typeof servePortForward>;
  let pod: Server;
  let client: ClusterClient;
  let directory: string;

  before(async () => {
    api = createServer().listen(0, '127.0.0.1');
    served = servePortForward(api);
    pod = createServer((request, response) => {
      if (request.method === 'GET') return void response.end(`hello ${request.url}`);
      request.pipe(response);
    }).listen(0, '127.0.0.1');
    await Promise.all([once(api, 'listening'), once(pod, 'listening')]);
    directory = mkdtempSync(join(tmpdir(), 'port-forward-'));
    const kubeconfig = join(directory, 'config');
    const server = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    writeFileSync(kubeconfig, kubeconfigOf(server, 'secret-token'));
    client = await createClusterClient({ kubeconfig: [kubeconfig] });
  });

  after(async () => {
    await client?.close();
    api.closeAllConnections();
    pod.closeAllConnections();
    api.close();
    pod.close();
    rmSync(directory, { recursive: true });
  });

  const portOf = (server: Server): number => (server.address() as AddressInfo).port;

  it('forwards HTTP requests to a pod, with the credentials of the client', async () => {
    const forward = await forwardPort(client, { namespace: 'gw-system', pod: 'gateway-proxy-0', port: portOf(pod) });
    try {
      const response = await fetch(`http://127.0.0.1:${forward.port}/ready`);
      expect(await response.text()).to.equal('hello /ready');
      expect(served.requests.at(-1)).to.deep.equal({
        url: `/api/v1/namespaces/gw-system/pods/gateway-proxy-0/portforward?ports=${portOf(pod)}`,
        authorization: 'Bearer secret-token',
      });
    } finally {
      await forward.close();
    }
  });

  it('forwards megabytes in both directions', async () => {
    const forward = await forwardPort(client, { namespace: 'gw-system', pod: 'gateway-proxy-0', port: portOf(pod) });
    try {
      const body = Buffer.alloc(8 * 2 ** 20, 'x');
      const response = await fetch(`http://127.0.0.1:${forward.port}/`, { method: 'POST', body });
      expect(Buffer.from(await response.arrayBuffer()).equals(body)).to.equal(true);
    } finally {
      await forward.close();
    }
  });

  it('closes a connection and names the problem if nothing listens in the pod', async () => {
    const unused = createTcpServer().listen(0, '127.0.0.1');
    await once(unused, 'listening');
    const { port } = unused.address() as AddressInfo;
    unused.close();
    await once(unused, 'close');
    const forward = await forwardPort(client, { namespace: 'gw-system', pod: 'gateway-proxy-0', port });
    try {
      const failure = await fetch(`http://127.0.0.1:${forward.port}/`).catch((error: Error) => error);
      expect(failure).to.be.an('error');
      expect(forward.problem).to.match(/^gw-system\/gateway-proxy-0:\d+: .*ECONNREFUSED/);
    } finally {
      await forward.close();
    }
  });

  it('names the problem if the API server rejects the request', async () => {
    const forward = await forwardPort(client, { namespace: 'other', pod: 'missing', port: 80 });
    try {
      await fetch(`http://127.0.0.1:${forward.port}/`).catch(() => undefined);
      expect(forward.problem).to.match(/^other\/missing:80: /);
    } finally {
      await forward.close();
    }
  });
});
