import type { Socket } from 'node:net';
import { plainAddress } from '@edge-gateway/core';

/** The local address of a connection. */
export interface LocalEnd {
  readonly address: string;
  readonly port: number;
}

const LOCAL_END = Symbol('edge-gateway.localEnd');
const UNKNOWN_END: LocalEnd = { address: '', port: 0 };

/** Returns the local address of a socket and caches it: a closed socket no longer has it. */
export function localEndOf(socket: Socket & { [LOCAL_END]?: LocalEnd }): LocalEnd {
  const known = socket[LOCAL_END];
  if (known) return known;
  const { localAddress, localPort = 0 } = socket;
  if (localAddress === undefined) return UNKNOWN_END;
  return (socket[LOCAL_END] = { address: plainAddress(localAddress), port: localPort });
}
