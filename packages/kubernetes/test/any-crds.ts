import { setTimeout as wait } from 'node:timers/promises';
import { KINDS } from '@edge-gateway/core';
import type { KubernetesApi } from '../../../test/parts/kubernetes.ts';

/** Definitions of all kinds that accept any content, so that tests can store what the real ones reject. */
export function anyCrds(): object[] {
  return [...KINDS.values()]
    .filter(({ group }) => group !== '')
    .flatMap((info) =>
      info.apiVersions.map((apiVersion) => ({ ...info, apiVersion, group: apiVersion.split('/')[0]! })),
    )
    .map(({ kind, group, apiVersion, plural }) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, plural, singular: kind.toLowerCase() },
        versions: [
          {
            name: apiVersion.split('/')[1]!,
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    }));
}

/** Applies the definitions, and waits until the API server serves all of them. */
export async function applyAnyCrds(api: KubernetesApi): Promise<void> {
  await api.apply(
    anyCrds()
      .map((crd) => JSON.stringify(crd))
      .join('\n---\n'),
  );
  const paths = [...KINDS.values()].flatMap(({ group, apiVersions, plural }) =>
    group === '' ? [] : apiVersions.map((apiVersion) => `/apis/${apiVersion}/${plural}`),
  );
  for (const path of paths) {
    const isServed = () =>
      api.kubectl(['get', '--raw', path]).then(
        () => true,
        () => false,
      );
    for (const giveUp = performance.now() + 60_000; !(await isServed()); await wait(100)) {
      if (performance.now() > giveUp) throw new Error(`${path} is not served`);
    }
  }
  await api.kubectl(['create', 'namespace', 'gw-system']).catch(() => undefined);
}
