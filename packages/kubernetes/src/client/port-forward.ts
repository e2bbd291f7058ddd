import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { WebSocket } from 'undici';
import { kubernetesError } from '../error-codes.ts';
import type { ClusterClient } from './cluster-client.ts';

/** A port of a pod. */
export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

/** A port of this host that forwards connections to a pod. */
export interface PortForward {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Why the last connection failed; `undefined` if none did. */
  readonly problem: string | undefined;
  close(): Promise<void>;
}

/** Each message of this protocol starts with the number of its channel. */
const PROTOCOL = 'v4.channel.k8s.io';
const DATA = 0;
const ERROR = 1;
/** Pauses the client of a pod that reads too slowly, in bytes. */
const MAX_BUFFERED = 1024 * 1024;
const POLL_MS = 5;

/**
 * Opens a port on 127.0.0.1 that forwards each connection to a pod, through the API server. Rejects with `ERR_KUBERNETES_API` if no port can be opened.
 *
 * @example
 * const { port } = await forwardPort(client, { namespace: 'gw-system', pod: 'gateway-proxy-0', port: 19000 });
 * await fetch(`http://127.0.0.1:${port}/ready`);
 */
export async function forwardPort(client: Pick<ClusterClient, 'webSocket'>, to: PodPort): Promise<PortForward> {
  const sockets = new Set<Socket>();
  let problem: string | undefined;
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    connect(client, to, socket).catch((error: unknown) => {
      problem = `${to.namespace}/${to.pod}:${to.port}: ${(error as Error).message}`;
      socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get problem() {
      return problem;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

/** Joins a connection with a WebSocket to the pod. Resolves when both are closed. */
async function connect(client: Pick<ClusterClient, 'webSocket'>, to: PodPort, socket: Socket): Promise<void> {
  const { namespace, pod, port } = to;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/portforward`;
  const end = Promise.withResolvers<void>();
  // Waited for below; a pod may fail before.
  end.promise.catch(() => undefined);
  const onMessage = createReader(socket, end.reject);
  const channel = await client.webSocket({ path, query: { ports: port }, protocols: [PROTOCOL], onMessage });
  channel.addEventListener('close', () => end.resolve());
  channel.addEventListener('error', () => end.reject(kubernetesError('ERR_KUBERNETES_API', 'the connection was lost')));
  socket.once('close', () => channel.close());
  socket.on('data', (data: Buffer) => void forward(channel, socket, data));
  socket.resume();
  try {
    await end.promise;
  } finally {
    socket.destroySoon();
    channel.close();
  }
}

/** Returns what handles the messages of a pod; `fail` receives the message of an error. */
function createReader(socket: Socket, fail: (error: Error) => void) {
  // The first message of each channel is the number of the port.
  const opened = new Set<number>();
  return (bytes: Buffer): void => {
    const [channel = DATA] = bytes;
    const isFirst = !opened.has(channel);
    opened.add(channel);
    if (isFirst) return;
    if (channel === DATA) socket.write(bytes.subarray(1));
    else if (channel === ERROR) fail(kubernetesError('ERR_KUBERNETES_API', bytes.subarray(1).toString().trim()));
  };
}

async function forward(channel: WebSocket, socket: Socket, data: Buffer): Promise<void> {
  if (channel.readyState !== channel.OPEN) return;
  channel.send(Buffer.concat([Buffer.from([DATA]), data]));
  if (channel.bufferedAmount <= MAX_BUFFERED) return;
  socket.pause();
  while (channel.readyState === channel.OPEN && channel.bufferedAmount > 0)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  socket.resume();
}
