import type { ClusterClient } from '@edge-gateway/kubernetes';
import { items, text } from '../resources/objects.ts';
import { listDeployments } from './workloads.ts';

/** A container image. */
export interface ContainerImage {
  readonly Tag: string;
  readonly Name: string;
  readonly Registry: string;
}

/** The versions of a gateway in a cluster, and of the cluster. */
export interface ClusterVersion {
  /** Empty if there is no gateway. */
  readonly containers: readonly ContainerImage[];
  readonly kubernetesCluster: Readonly<Record<'major' | 'minor' | 'gitVersion' | 'buildDate' | 'platform', string>>;
}

/** Reads the images of the Deployments with the label `app=gw`, and the version of the cluster. */
export async function readClusterVersion(client: ClusterClient, namespace: string): Promise<ClusterVersion> {
  const [deployments, version] = await Promise.all([
    listDeployments(client, namespace),
    client.send({ path: '/version' }),
  ]);
  const images = deployments.flatMap((deployment) =>
    items(deployment, 'spec', 'template', 'spec', 'containers').map((container) => text(container, 'image')),
  );
  const field = (name: string): string => text(version, name);
  return {
    containers: [...new Set(images)].sort().map(readImage),
    kubernetesCluster: {
      major: field('major'),
      minor: field('minor'),
      gitVersion: field('gitVersion'),
      buildDate: field('buildDate'),
      platform: field('platform'),
    },
  };
}

/** Parses `registry/path/name:tag`; a digest takes the place of a tag. */
export function readImage(image: string): ContainerImage {
  const slash = image.lastIndexOf('/');
  const [, Name = '', tag = '', digest = ''] = /^([^:@]*)(?::([^@]*))?(?:@(.*))?$/.exec(image.slice(slash + 1)) ?? [];
  return { Tag: tag || digest, Name, Registry: slash < 0 ? '' : image.slice(0, slash) };
}
