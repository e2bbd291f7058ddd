import { setTimeout as wait } from 'node:timers/promises';
import type { ClusterClient, ClusterObject } from '@edge-gateway/kubernetes';
import { nodeStatus, serveKubeletLogs } from '../parts/kubelet-logs.ts';
import { startGrpcEcho, startHttpEcho, type EchoServer } from './echo-server.ts';

const NODE = 'node';
const POLL_MS = 200;
const CONDITIONS = ['Initialized', 'ContainersReady', 'Ready', 'PodScheduled'];

interface Pod extends ClusterObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly name: string; readonly image: string; readonly env?: readonly EnvVar[] }[];
  };
}

interface EnvVar {
  readonly name: string;
  readonly value?: string;
}

interface PodsOptions {
  readonly client: ClusterClient;
  /** The address of the node. */
  readonly nodeAddress: string;
  /** Returns the address of the next pod. */
  nextAddress(): string;
  /** The definition of the echo service over gRPC. */
  readonly proto: string;
}

/**
 * Acts as the kubelet of a node: binds pods to it, runs an echo server of this process for each, reports them as ready, serves their logs, and
 * removes those that are deleted.
 */
export async function runPods({
  client,
  nodeAddress,
  nextAddress,
  proto,
}: PodsOptions): Promise<{ close(): Promise<void> }> {
  const running = new Map<string, EchoServer>();
  const logs = new Map<string, EchoServer>();
  const closing = new AbortController();

  async function handle(pod: Pod): Promise<void> {
    const { name, namespace = '', uid = '', deletionTimestamp } = pod.metadata;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    if (deletionTimestamp) {
      await running.get(uid)?.close();
      running.delete(uid);
      await client.send({ method: 'DELETE', path, body: { gracePeriodSeconds: 0 } });
    } else if (!pod.spec.nodeName) {
      const target = { apiVersion: 'v1', kind: 'Node', name: NODE };
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
      await client.send({ method: 'POST', path: `${path}/binding`, body });
    } else if (!running.has(uid)) {
      const address = nextAddress();
      const server = await start(pod, address);
      running.set(uid, server);
      logs.set(`${namespace}/${name}`, server);
      await client.send({
        method: 'PATCH',
        path: `${path}/status`,
        contentType: 'application/merge-patch+json',
        body: { status: statusOf(pod, address) },
      });
    }
  }

  function start({ metadata, spec }: Pod, address: string): Promise<EchoServer> {
    const env = new Map((spec.containers[0]!.env ?? []).map(({ name, value = '' }) => [name, value]));
    const { name: pod, namespace = '' } = metadata;
    const identity = { namespace, pod, service: env.get('SERVICE_NAME') ?? '', ingress: env.get('INGRESS_NAME') ?? '' };
    return env.has('GRPC_ECHO_SERVER') ? startGrpcEcho(address, identity, proto) : startHttpEcho(address, identity);
  }

  function statusOf({ spec }: Pod, address: string): object {
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    return {
      phase: 'Running',
      podIP: address,
      podIPs: [{ ip: address }],
      hostIP: nodeAddress,
      startTime: now,
      conditions: CONDITIONS.map((type) => ({ type, status: 'True', lastTransitionTime: now })),
      containerStatuses: spec.containers.map(({ name, image }) => ({
        name,
        image,
        imageID: image,
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: now } },
      })),
    };
  }

  async function follow(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        const { items } = await client.send<{ items: Pod[] }>({ path: '/api/v1/pods' });
        for (const pod of items) await handle(pod);
      } catch (error) {
        console.log(`pods: ${(error as Error).message}`);
      }
      await wait(POLL_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  const kubelet = await serveKubeletLogs(nodeAddress, ({ namespace, pod }) => {
    const server = logs.get(`${namespace}/${pod}`);
    return server && server.log.map((line) => `${line}\n`).join('');
  });
  await client.send({
    method: 'POST',
    path: '/api/v1/nodes',
    body: { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } },
  });
  await client.send({
    method: 'PATCH',
    path: `/api/v1/nodes/${NODE}/status`,
    contentType: 'application/merge-patch+json',
    body: { status: nodeStatus(nodeAddress, kubelet) },
  });
  const following = follow();
  return {
    async close() {
      closing.abort();
      await following;
      await Promise.all([...running.values()].map((server) => server.close()));
      kubelet.close();
    },
  };
}
