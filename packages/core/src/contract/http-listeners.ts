import type { Listener } from './snapshot.ts';

/** Returns the listeners and parts of listeners that serve HTTP. */
export function httpListenersOf(listeners: readonly Listener[]): readonly Listener[] {
  return listeners.flatMap((listener) => listener.parts?.flatMap(({ http }) => http ?? []) ?? listener);
}
