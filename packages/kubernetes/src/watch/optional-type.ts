import type { ClusterClient } from '../client/cluster-client.ts';
import type { ResourceType } from './cluster-object.ts';
import { completeOrForbidden } from './forbidden.ts';
import type { Reflector } from './reflector.ts';

/**
 * Starts the reflector of a type that a cluster may lack. Resolves when its list is complete, or when the API server forbids it or says that
 * it does not have the type: a start must not wait for that. The reflector follows the type once it is there.
 */
export async function completeOrAbsent(
  reflector: Reflector,
  client: Pick<ClusterClient, 'send'>,
  type: ResourceType,
  signal: AbortSignal,
): Promise<void> {
  const absent = lacks(client, type, signal).then((isAbsent) => (isAbsent ? undefined : NEVER));
  await Promise.race([completeOrForbidden(reflector, aborted(signal)), absent]);
}

const NEVER = new Promise<undefined>(() => undefined);

/** Returns whether the API server has the group, but not the type. A starting server may not know the group yet. */
async function lacks(client: Pick<ClusterClient, 'send'>, type: ResourceType, signal: AbortSignal): Promise<boolean> {
  try {
    const path = `/apis/${type.group}/${type.version}`;
    const { resources } = await client.send<{ resources: readonly { name: string }[] }>({ path, signal });
    return !resources.some(({ name }) => name === type.plural);
  } catch {
    return false;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
