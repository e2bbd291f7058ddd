import { KINDS, type Kind } from '@edge-gateway/core';
import type { ClusterClient, ClusterObject } from '@edge-gateway/kubernetes';
import { cliError } from '../error-codes.ts';

/** An object with its kind. */
export type KnownObject = ClusterObject & { readonly apiVersion: string; readonly kind: string };

/** The kind of the objects of a list, and which of them. */
export interface ListOptions {
  readonly apiVersion: string;
  readonly kind: string;
  readonly labelSelector?: string;
}

/** Returns the path of the objects of an API version, or of one of them. */
export async function objectPath(
  apiVersion: string,
  plural: string,
  namespace?: string,
  name?: string,
): Promise<string> {
  const { pathOf } = await import('@edge-gateway/kubernetes');
  const [version, group = ''] = apiVersion.split('/').toReversed() as [string, string?];
  return pathOf({ group, version, plural }, namespace, name);
}

/** The objects of a list. */
export interface ObjectList extends ListOptions {
  readonly plural: string;
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
}

/** Lists objects, with kind and API version; none if the cluster does not know them. */
export async function listObjects(
  client: ClusterClient,
  { apiVersion, kind, labelSelector, plural, namespace }: ObjectList,
): Promise<KnownObject[]> {
  const { isApiError, listPages } = await import('@edge-gateway/kubernetes');
  let objects: KnownObject[] = [];
  const restart = (): void => void (objects = []);
  const request = { path: await objectPath(apiVersion, plural, namespace), query: { labelSelector } };
  try {
    await listPages(client, request, {
      onObject: (object) => objects.push({ ...object, apiVersion, kind }),
      onRestart: restart,
    });
  } catch (error) {
    if (!isApiError(error, 404)) throw error;
    restart();
  }
  return objects;
}

/**
 * Lists the resources of the gateway in a cluster: of all namespaces, or where that is forbidden of the given one; Secrets and ConfigMaps only of
 * namespaces with other resources, and none where they are forbidden.
 */
export async function listResources(client: ClusterClient, namespace: string): Promise<KnownObject[]> {
  const { isApiError } = await import('@edge-gateway/kubernetes');
  const kinds = [...KINDS.values()];
  const unless403 = (list: Promise<KnownObject[]>, instead: () => Promise<KnownObject[]> | KnownObject[]) =>
    list.catch((error: unknown) => (isApiError(error, 403) ? instead() : Promise.reject(error)));
  const list = (apiVersion: string, kind: Kind, plural: string, within?: string) =>
    listObjects(client, { apiVersion, kind, plural, namespace: within });
  const own = kinds
    .filter(({ body }) => !body)
    .flatMap(({ kind, plural, apiVersions }) =>
      apiVersions.map((version) =>
        unless403(list(version, kind, plural), () => list(version, kind, plural, namespace)),
      ),
    );
  const resources = (await Promise.all(own)).flat();
  const namespaces = new Set([namespace, ...resources.flatMap(({ metadata }) => metadata.namespace ?? [])]);
  const referenced = kinds
    .filter(({ body }) => body)
    .flatMap(({ kind, plural }) =>
      [...namespaces].map((within) => unless403(list('v1', kind, plural, within), () => [])),
    );
  return [...resources, ...(await Promise.all(referenced)).flat()];
}

/** Throws `ERR_CLI_NAMESPACE` if the cluster does not have the namespace. */
export async function requireNamespace(client: ClusterClient, namespace: string): Promise<void> {
  const { isApiError } = await import('@edge-gateway/kubernetes');
  const path = await objectPath('v1', 'namespaces', undefined, namespace);
  await client.send({ path }).catch((error: unknown) => {
    // A user who must not read namespaces may still read what is in them.
    if (isApiError(error, 403)) return;
    if (!isApiError(error, 404)) throw error;
    throw cliError('ERR_CLI_NAMESPACE', `the cluster has no namespace ${namespace}; name that of the gateway with -n`);
  });
}
