import type { Listener, Snapshot } from '@edge-gateway/core';
import { createPartChooser } from '../listen/parts/choose-part.ts';
import type { ListenerVerdict } from './explanation.ts';

/** The connection of the request. */
interface RequestConnection {
  readonly tls: boolean;
  readonly port: number | undefined;
  /** The server name of the handshake. */
  readonly host: string;
}

/** Chooses the listener of a request, and returns why the others do not match. */
export function chooseListener(
  snapshot: Snapshot,
  { tls, port, host }: RequestConnection,
  wanted: string | undefined,
): { readonly listener: Listener | undefined; readonly verdicts: readonly ListenerVerdict[] } {
  const byPort = wanted === undefined && snapshot.listeners.some((each) => each.bindPort === port);
  let listener: Listener | undefined;
  const verdicts = snapshot.listeners.map((each): ListenerVerdict => {
    const { name, bindAddress: address, bindPort } = each;
    let reason = reasonAgainst(each, tls, { wanted, port: byPort ? port : undefined });
    const chosen = reason === undefined && listener === undefined;
    if (chosen) {
      listener = each;
      const first = `it is the first one ${tls ? 'with' : 'without'} TLS`;
      reason = port === undefined ? first : `no listener has port ${port}: ${first}`;
      if (wanted !== undefined) reason = 'it was asked for';
      else if (byPort) reason = 'it listens on the port of the URL';
    }
    return { name, address, port: bindPort, chosen, reason: reason ?? 'another one comes first' };
  });
  return { listener: listener && partOf(listener, { tls, host }), verdicts };
}

/** Returns the part that serves the connection, regardless of the client address. */
function partOf(listener: Listener, { tls, host }: Pick<RequestConnection, 'tls' | 'host'>): Listener | undefined {
  if (!listener.parts) return listener;
  const anywhere = listener.parts.map((part) => ({ ...part, match: { ...part.match, sourceRanges: [] } }));
  return createPartChooser(anywhere)({ hello: tls ? { serverName: host, ciphers: [] } : undefined, clientAddress: '' })
    ?.http;
}

function reasonAgainst(
  listener: Listener,
  tls: boolean,
  { wanted, port }: { readonly wanted: string | undefined; readonly port: number | undefined },
): string | undefined {
  if (wanted !== undefined) return listener.name === wanted ? undefined : `${wanted} was asked for`;
  if (port !== undefined && listener.bindPort !== port) return `it listens on port ${listener.bindPort}, not ${port}`;
  if (listener.type === 'tcp') return 'it serves TCP';
  if (listener.ssl === tls || listener.type === 'hybrid') return undefined;
  return tls ? 'it does not speak TLS' : 'it speaks TLS only';
}
