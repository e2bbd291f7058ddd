import type { ClusterClient } from '@edge-gateway/kubernetes';
import { items, text } from '../resources/objects.ts';
import { listPods } from './cluster-gateway.ts';
import { listObjects, objectPath, type KnownObject } from './cluster-objects.ts';

/** The log of a container. */
export interface ContainerLog {
  /** `<pod>_<container>.log`. */
  readonly name: string;
  readonly text: string;
}

/** The logs of a gateway, and why others cannot be read. */
export interface ContainerLogs {
  readonly logs: readonly ContainerLog[];
  /** One line for each container, such as one that has not started. */
  readonly problems: readonly string[];
}

/** Reads the logs of all pods with the label `gw`. */
export async function readLogs(client: ClusterClient, namespace: string): Promise<ContainerLogs> {
  const { isApiError } = await import('@edge-gateway/kubernetes');
  const pods = await listPods(client, namespace, 'gw');
  const containers = pods.flatMap((pod) =>
    items(pod, 'spec', 'containers').map((container) => ({
      pod: pod.metadata.name,
      container: text(container, 'name'),
    })),
  );
  const problems: string[] = [];
  const found = await Promise.all(
    containers.map(async ({ pod, container }): Promise<ContainerLog | undefined> => {
      const path = `${await objectPath('v1', 'pods', namespace, pod)}/log`;
      const chunks: Buffer[] = [];
      try {
        const stream = await client.stream({ path, query: { container }, accept: '*/*' });
        for await (const chunk of stream) chunks.push(chunk);
      } catch (error) {
        if (!isApiError(error)) throw error;
        problems.push(`no log of ${pod}_${container}: ${error.message.replace(`GET ${path}: `, '')}`);
        return undefined;
      }
      return { name: `${pod}_${container}.log`, text: Buffer.concat(chunks).toString() };
    }),
  );
  return { logs: found.filter((log) => log !== undefined), problems: problems.sort() };
}

/** The kinds of a report beside the resources of the gateway, in its order. */
const KINDS: readonly (readonly [apiVersion: string, kind: string, plural: string])[] = [
  ['apps/v1', 'Deployment', 'deployments'],
  ['apps/v1', 'DaemonSet', 'daemonsets'],
  ['v1', 'Service', 'services'],
  ['v1', 'ConfigMap', 'configmaps'],
  ['v1', 'ServiceAccount', 'serviceaccounts'],
  ['rbac.authorization.k8s.io/v1', 'Role', 'roles'],
  ['rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings'],
  ['batch/v1', 'Job', 'jobs'],
];

/** Lists the objects of a namespace that run a gateway, without what only the API server needs. */
export async function listWorkloads(client: ClusterClient, namespace: string): Promise<KnownObject[]> {
  const lists = KINDS.map(([apiVersion, kind, plural]) => listObjects(client, { apiVersion, kind, plural, namespace }));
  const objects = (await Promise.all(lists)).flat();
  return objects.map(({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, managedFields: undefined } }));
}
