import type { Listener } from '@edge-gateway/core';
import type { ListenAddress } from '@edge-gateway/routing';
import type { DataPlane } from './data-plane.ts';

/** An open listener. */
export interface ShownListener extends ListenAddress {
  readonly protocol: 'http' | 'https' | 'tcp';
}

/** Returns the open listeners of a data plane with their protocols. */
export function shownListeners({ listeners, snapshot }: DataPlane): readonly ShownListener[] {
  return listeners.addresses().map((each) => ({
    ...each,
    protocol: protocolOf(snapshot.listeners.find(({ name }) => name === each.name)),
  }));
}

function protocolOf(listener: Listener | undefined): ShownListener['protocol'] {
  if (listener?.type === 'tcp') return 'tcp';
  return listener?.ssl ? 'https' : 'http';
}
