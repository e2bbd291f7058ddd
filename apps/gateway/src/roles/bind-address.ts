import type { Listener, Snapshot } from '@edge-gateway/core';

const ANY = new Set(['::', '0.0.0.0']);

/**
 * Returns a function that replaces the address of listeners that listen on all addresses. Unchanged listeners stay the same objects.
 */
export function createBinding(address: string | undefined): (snapshot: Snapshot) => Snapshot {
  if (address === undefined) return (snapshot) => snapshot;
  const bound = new WeakMap<Listener, Listener>();
  const bind = (listener: Listener): Listener => {
    if (!ANY.has(listener.bindAddress)) return listener;
    let found = bound.get(listener);
    if (!found) bound.set(listener, (found = Object.freeze({ ...listener, bindAddress: address })));
    return found;
  };
  return (snapshot) => ({ ...snapshot, listeners: snapshot.listeners.map(bind) });
}
