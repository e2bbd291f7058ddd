import { gatewayNamespace } from '@edge-gateway/core';
import type { ClusterClient, PortForward } from '@edge-gateway/kubernetes';
import { cliError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { dig, items, text } from '../resources/objects.ts';
import { listObjects, objectPath, type KnownObject } from './cluster-objects.ts';
import { openCluster, type ClusterFlags } from './open-cluster.ts';

/** The flags that choose a gateway in a cluster. */
export interface ClusterGatewayFlags extends ClusterFlags {
  /** Of the gateway. Default gw-system. */
  readonly namespace?: string;
}

/** Component and namespace of the host name of a request, such as `gw.gw-system.svc`. */
const HOST = /^(?<component>[^.]+)\.(?<namespace>[^.]+)\.svc$/;
/** The Secret with the token of the admin ports. */
const TOKEN_SECRET = 'admin-token';

/** Returns the addresses of a control plane and a proxy for {@link clusterFetch}. */
export function clusterAddresses({ namespace = gatewayNamespace() }: ClusterGatewayFlags, proxy: string) {
  return { server: `http://gw.${namespace}.svc:9091`, proxyAdmin: `http://${proxy}.${namespace}.svc:19000` };
}

/**
 * Returns a `fetch` that forwards requests for `http://<component>.<namespace>.svc:<port>` to a ready pod with the label `gw=<component>`, with the token of
 * the Secret `admin-token` unless they have one.
 */
export function clusterFetch(io: Io, flags: ClusterFlags): typeof fetch {
  let client: Promise<ClusterClient> | undefined;
  const forwards = new Map<string, Promise<PortForward>>();
  const tokens = new Map<string, Promise<string | undefined>>();

  async function open(component: string, namespace: string, port: number): Promise<PortForward> {
    const { forwardPort } = await import('@edge-gateway/kubernetes');
    const connected = await client!;
    const pod = await readyPod(connected, namespace, component);
    const forward = await forwardPort(connected, { namespace, pod, port });
    io.onEnd?.(() => forward.close());
    return forward;
  }

  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const { component = '', namespace = '' } = HOST.exec(url.hostname)?.groups ?? {};
    client ??= openCluster(io, flags);
    const opened = once(forwards, url.host, () => open(component, namespace, Number(url.port)));
    const token = once(tokens, namespace, async () => readToken(await client!, namespace));
    const headers = new Headers(init.headers);
    const [forward, known] = await Promise.all([opened, token]);
    if (known !== undefined && !headers.has('authorization')) headers.set('authorization', `Bearer ${known}`);
    const to = `http://127.0.0.1:${forward.port}${url.pathname}${url.search}`;
    return fetch(to, { ...init, headers }).catch((error: unknown) => {
      if (init.signal?.aborted || forward.problem === undefined) throw error;
      throw cliError('ERR_CLI_UNREACHABLE', `the connection to a pod failed: ${forward.problem}`, error);
    });
  };
}

function once<K, T>(known: Map<K, Promise<T>>, key: K, make: () => Promise<T>): Promise<T> {
  const found = known.get(key) ?? make();
  known.set(key, found);
  return found;
}

/** Returns the name of a ready pod of a component, else of a running one. */
async function readyPod(client: ClusterClient, namespace: string, component: string): Promise<string> {
  const pods = await listPods(client, namespace, `gw=${component}`);
  const running = pods.filter((pod) => text(pod, 'status', 'phase') === 'Running');
  const found = running.find((pod) => conditionOf(pod, 'Ready') === 'True') ?? running[0];
  if (found) return found.metadata.name;
  throw cliError(
    'ERR_CLI_UNREACHABLE',
    `no pod with the label gw=${component} is running in the namespace ${namespace}; name the namespace of the gateway with -n`,
  );
}

/** Lists the pods of a namespace with a label. */
export function listPods(client: ClusterClient, namespace: string, labelSelector: string): Promise<KnownObject[]> {
  return listObjects(client, { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespace, labelSelector });
}

/** Returns the status of a condition of an object; `undefined` without the condition. */
export function conditionOf(object: unknown, type: string): string | undefined {
  const found = items(object, 'status', 'conditions').find((one) => text(one, 'type') === type);
  return found === undefined ? undefined : text(found, 'status');
}

/** A user who must not read the Secret passes the token with `--admin-token-file`. */
async function readToken(client: ClusterClient, namespace: string): Promise<string | undefined> {
  const path = await objectPath('v1', 'secrets', namespace, TOKEN_SECRET);
  const secret = await client.send({ path }).catch(() => undefined);
  const token = dig(secret, 'data', 'token');
  return typeof token === 'string' ? Buffer.from(token, 'base64').toString().trim() : undefined;
}
