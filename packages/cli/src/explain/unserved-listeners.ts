import type { Problem, UnservedListener } from '@edge-gateway/core';
import type { Explanation } from '@edge-gateway/routing';

/** A listener that the resources require and the gateway does not serve. */
export interface MissingListener extends UnservedListener {
  /** Resources that the reason is about, e.g. `VirtualService gw-system/shop`. */
  readonly resources: readonly string[];
}

/** The listeners that are not served, and the problems of the configuration. */
export interface Unserved {
  readonly listeners: readonly UnservedListener[];
  readonly problems: readonly Problem[];
}

/** How a request selects its listener. */
export interface ListenerChoice {
  readonly url: string;
  /** Name of the listener. */
  readonly listener?: string;
}

/**
 * Returns the listeners that are not served and may have been meant for a request: the one of its listener name or port.
 * Without either all of them may be meant if no other listener takes the request.
 */
export async function unservedFor(
  { listeners }: Explanation,
  { url, listener }: ListenerChoice,
  read: () => Promise<Unserved>,
): Promise<MissingListener[]> {
  const port = /^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(url)?.[1];
  const chosen = listeners.find((one) => one.chosen);
  if (chosen && (listener !== undefined || port === undefined || String(chosen.port) === port)) return [];
  const unserved = await read();
  const isMeant = ({ name }: UnservedListener) => {
    if (listener !== undefined) return name === listener;
    return port === undefined || name.endsWith(`-${port}`);
  };
  return unserved.listeners
    .filter((one) => isMeant(one) && !listeners.some(({ name }) => name === one.name))
    .map((one) => ({ ...one, resources: resourcesOf(one, unserved.problems) }));
}

function resourcesOf({ reason }: UnservedListener, problems: readonly Problem[]): string[] {
  const about = problems.filter(({ message, name }) => message === reason && name !== undefined);
  return [...new Set(about.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`))];
}
