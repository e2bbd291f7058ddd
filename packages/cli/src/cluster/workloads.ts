import type { ClusterClient } from '@edge-gateway/kubernetes';
import { dig, items, text } from '../resources/objects.ts';
import { conditionOf, listPods } from './cluster-gateway.ts';
import { listObjects, type KnownObject } from './cluster-objects.ts';

/** Lists the Deployments of a gateway, or those of the proxies. */
export function listDeployments(
  client: ClusterClient,
  namespace: string,
  labelSelector = 'app=gw',
): Promise<KnownObject[]> {
  const list = { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', namespace, labelSelector };
  return listObjects(client, list);
}

/** Returns the problems of the Deployments of a gateway. */
export async function deploymentProblems(client: ClusterClient, namespace: string): Promise<string[]> {
  const deployments = await listDeployments(client, namespace);
  if (deployments.length === 0)
    return [
      `No Deployments with the label app=gw were found in the namespace ${namespace}: name the namespace of the gateway with -n, or use --server without --kube-context if it runs outside of the cluster`,
    ];
  return deployments.flatMap((deployment) => {
    const name = `Deployment ${deployment.metadata.name} in namespace ${namespace}`;
    const why = (type: string): string => {
      const found = items(deployment, 'status', 'conditions').find((one) => text(one, 'type') === type);
      return text(found, 'message') && `: ${text(found, 'message')}`;
    };
    if (conditionOf(deployment, 'ReplicaFailure') === 'True')
      return [`${name} failed to create pods${why('ReplicaFailure')}`];
    if (conditionOf(deployment, 'Progressing') === 'False') return [`${name} is not progressing${why('Progressing')}`];
    // The controllers have not looked at it yet.
    if (replicasOf(deployment) > 0 && conditionOf(deployment, 'Available') !== 'True')
      return [`${name} is not available${why('Available')}`];
    return [];
  });
}

/** Returns the problems of the pods of a gateway; `undefined` if there are none with the label. */
export async function podProblems(
  client: ClusterClient,
  namespace: string,
  labelSelector: string,
): Promise<string[] | undefined> {
  const pods = await listPods(client, namespace, labelSelector);
  if (pods.length === 0) return undefined;
  return pods
    .filter((pod) => text(pod, 'status', 'phase') !== 'Succeeded')
    .flatMap((pod) => {
      const name = `Pod ${pod.metadata.name} in namespace ${namespace}`;
      const problem = podProblem(pod);
      return problem === undefined ? [] : [`${name} ${problem}`];
    });
}

const CONDITIONS = [
  ['PodScheduled', 'is not scheduled'],
  ['Initialized', 'is not initialized'],
  ['ContainersReady', 'has containers that are not ready'],
  ['Ready', 'is not ready'],
] as const;

function podProblem(pod: KnownObject): string | undefined {
  const failed = CONDITIONS.find(([type]) => conditionOf(pod, type) === 'False');
  if (!failed) {
    const phase = text(pod, 'status', 'phase');
    return phase === 'Running' ? undefined : `is ${phase || 'unknown'}`;
  }
  const condition = items(pod, 'status', 'conditions').find((one) => text(one, 'type') === failed[0]);
  const waiting = items(pod, 'status', 'containerStatuses').flatMap((one) => {
    const reason = text(one, 'state', 'waiting', 'reason');
    return reason ? [`${text(one, 'name')}: ${reason}`] : [];
  });
  const why = waiting.join(', ') || text(condition, 'message');
  return `${failed[1]}${why && `: ${why}`}`;
}

/** Returns the wanted number of pods. */
export function replicasOf(deployment: KnownObject): number {
  const replicas = dig(deployment, 'spec', 'replicas');
  return typeof replicas === 'number' ? replicas : 1;
}
