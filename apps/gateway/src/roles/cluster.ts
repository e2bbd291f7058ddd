import type { Loggers } from '@edge-gateway/core';
import {
  createClusterClient,
  findClusterAccess,
  kubernetesSource,
  type ClusterClient,
  type KubernetesSource,
} from '@edge-gateway/kubernetes';
import { BUILD } from '../settings.ts';
import type { SourceSettings } from '../command-line/role.ts';

/** A connected cluster. */
export interface Cluster {
  readonly client: ClusterClient;
  readonly source: KubernetesSource;
  close(): Promise<void>;
}

/** Opens the cluster of the settings, without any request yet. Rejects with `ERR_KUBERNETES_ACCESS` if there is no access. */
export async function openCluster({ kubeconfig, context }: SourceSettings, log: Loggers): Promise<Cluster> {
  const access = findClusterAccess({ kubeconfig, context, env: process.env });
  const client = await createClusterClient(access, { userAgent: `edge-gateway/${BUILD.version}` });
  const source = kubernetesSource({ client, log: log.get('config') });
  return {
    client,
    source,
    async close() {
      await source.close();
      await client.close();
    },
  };
}
