import type { Socket } from 'node:net';
import { plainAddress } from '@edge-gateway/core';
import { setProxied } from '../../format/proxied.ts';
import type { Decision, FirstBytes } from '../first-bytes.ts';
import { isInvalid, type InvalidHeader, type ProxyHeader } from './header.ts';
import { parseProxyHeader } from './parse-header.ts';
import type { ProxyStats } from './proxy-stats.ts';
import { tlvMetadata, type ProxyProtocol } from './tlv-metadata.ts';

/** Reads the PROXY header of a connection. */
export type ReceiveHeader = (socket: Socket) => void;

export interface HeaderReceiverParts {
  readonly settings: ProxyProtocol;
  readonly stats: ProxyStats;
  readonly firstBytes: FirstBytes;
  /** Maximum time for the header. */
  readonly timeoutMs: number;
  /** Called with a connection after its header; the bytes behind the header are still to be read. */
  readonly onReady: (socket: Socket) => void;
  /** Called before a connection without a valid header is closed. */
  readonly onInvalid: (socket: Socket, reason: string) => void;
}

const REASONS = { timeout: 'no complete PROXY header in time', end: 'the PROXY header is incomplete' };

export function createHeaderReceiver(parts: HeaderReceiverParts): ReceiveHeader {
  const { settings, stats, firstBytes, timeoutMs, onReady, onInvalid } = parts;

  function count({ version }: Pick<InvalidHeader, 'version'>): void {
    stats.errors.value++;
    if (version === undefined) stats.notFoundDisallowed.value++;
    else stats.invalid[version].value++;
  }

  function reject(socket: Socket, invalid: InvalidHeader): void {
    count(invalid);
    onInvalid(socket, invalid.reason);
    socket.destroy();
  }

  function accept(socket: Socket, { version, ends, tlvs }: ProxyHeader): void {
    stats.found[version].value++;
    const { remoteAddress, remotePort = 0 } = socket;
    const peer = { address: plainAddress(remoteAddress), port: remotePort };
    setProxied(socket, { peer, metadata: tlvMetadata(tlvs, settings) }, ends);
    onReady(socket);
  }

  function decide(socket: Socket, bytes: Buffer): Decision | undefined {
    const parsed = parseProxyHeader(bytes);
    if (parsed === undefined) return undefined;
    if (!isInvalid(parsed)) return { consumed: parsed.length, proceed: () => accept(socket, parsed) };
    if (parsed.version !== undefined || !settings.allowRequestsWithoutProxyProtocol)
      return { consumed: bytes.length, proceed: () => reject(socket, parsed) };
    stats.notFoundAllowed.value++;
    return { consumed: 0, proceed: () => onReady(socket) };
  }

  return (socket) =>
    firstBytes.read(socket, {
      timeoutMs,
      decide: (bytes) => decide(socket, bytes),
      undecided(bytes, reason) {
        // A connection that closes without a byte is a check of the port.
        if (bytes.length === 0 && reason === 'end') return;
        if (bytes.length > 0) count({ version: undefined });
        onInvalid(socket, REASONS[reason]);
      },
    });
}
