import type { DataPlane } from './data-plane.ts';

/** A listener of the served state that is not open. */
export interface ClosedListener {
  readonly name: string;
  readonly reason: string;
}

/** Time between two checks whether listeners have opened or failed, in milliseconds. */
export const LISTENER_CHECK_MS = 1000;

/** Returns the listeners of the state that a data plane serves that are not open. The control plane knows those that the state does not contain. */
export function closedListeners({ snapshot, unserved }: Pick<DataPlane, 'snapshot' | 'unserved'>): ClosedListener[] {
  const own = new Set(snapshot.listeners.map(({ name }) => name));
  return unserved
    .filter(({ name }) => own.has(name))
    .map(({ name, reason }) => ({ name, reason: `not open: ${reason}` }));
}
