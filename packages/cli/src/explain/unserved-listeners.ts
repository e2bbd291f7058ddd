import type { Explanation } from '@edge-gateway/routing';
import type { RunningComponent } from '../check/contract.ts';

/** A listener that the resources require and the gateway does not serve. */
export type MissingListener = Pick<RunningComponent, 'name' | 'reason'> & Partial<Pick<RunningComponent, 'resources'>>;

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
  read: () => Promise<readonly MissingListener[]>,
): Promise<MissingListener[]> {
  const port = /^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(url)?.[1];
  const chosen = listeners.find((one) => one.chosen);
  if (chosen && (listener !== undefined || port === undefined || String(chosen.port) === port)) return [];
  const isMeant = ({ name }: MissingListener) => {
    if (listener !== undefined) return name === listener;
    return port === undefined || name.endsWith(`-${port}`);
  };
  return (await read()).filter((one) => isMeant(one) && !listeners.some(({ name }) => name === one.name));
}
