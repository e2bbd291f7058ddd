import type { Listener, Snapshot } from '@edge-gateway/core';
import type { ListenerVerdict } from './explanation.ts';

/** Chooses the listener of a request and says why not the others. */
export function chooseListener(
  snapshot: Snapshot,
  { tls, port }: { readonly tls: boolean; readonly port: number | undefined },
  wanted: string | undefined,
): { readonly listener: Listener | undefined; readonly verdicts: readonly ListenerVerdict[] } {
  const byPort = wanted === undefined && snapshot.listeners.some((each) => each.bindPort === port);
  let listener: Listener | undefined;
  const verdicts = snapshot.listeners.map((each): ListenerVerdict => {
    const reason = reasonAgainst(each, { wanted, tls, port: byPort ? port : undefined });
    const chosen = reason === undefined && listener === undefined;
    if (chosen) listener = each;
    const { name, bindAddress: address, bindPort } = each;
    return { name, address, port: bindPort, chosen, reason: reason ?? reasonFor(chosen, { wanted, tls, byPort }) };
  });
  return { listener, verdicts };
}

interface Wish {
  readonly wanted: string | undefined;
  readonly tls: boolean;
  readonly port: number | undefined;
}

function reasonAgainst(listener: Listener, { wanted, tls, port }: Wish): string | undefined {
  if (wanted !== undefined) return listener.name === wanted ? undefined : `${wanted} was asked for`;
  if (port !== undefined && listener.bindPort !== port) return `it listens on port ${listener.bindPort}, not ${port}`;
  if (listener.ssl === tls) return undefined;
  return tls ? 'it does not speak TLS' : 'it speaks TLS only';
}

function reasonFor(
  chosen: boolean,
  { wanted, tls, byPort }: Omit<Wish, 'port'> & { readonly byPort: boolean },
): string {
  if (!chosen) return 'another one comes first';
  if (wanted !== undefined) return 'it was asked for';
  if (byPort) return 'it listens on the port of the URL';
  return `it is the first one ${tls ? 'with' : 'without'} TLS`;
}
