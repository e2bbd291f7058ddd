import type { Socket } from 'node:net';
import { plainAddress } from '@edge-gateway/core';
import { setProxied } from '../../format/proxied.ts';
import { isInvalid, type InvalidHeader, type ProxyHeader } from './header.ts';
import { parseProxyHeader } from './parse-header.ts';
import type { ProxyStats } from './proxy-stats.ts';
import { tlvMetadata, type ProxyProtocol } from './tlv-metadata.ts';

/** Reads the PROXY headers of the connections of a listener. */
export type HeaderReceiver = ReturnType<typeof createHeaderReceiver>;

export interface HeaderReceiverParts {
  readonly settings: ProxyProtocol;
  readonly stats: ProxyStats;
  /** Maximum time for the header. */
  readonly timeoutMs: number;
  /** Called with a connection after its header; the bytes behind the header are still to be read. */
  readonly onReady: (socket: Socket) => void;
  /** Called before a connection without a valid header is closed. */
  readonly onInvalid: (socket: Socket, reason: string) => void;
}

const TIMEOUT = 'no complete PROXY header in time';

export function createHeaderReceiver({ settings, stats, timeoutMs, onReady, onInvalid }: HeaderReceiverParts) {
  const pending = new Set<{ expire(): void }>();

  function reject(socket: Socket, { version, reason }: InvalidHeader): void {
    stats.errors.value++;
    if (version === undefined) stats.notFoundDisallowed.value++;
    else stats.invalid[version].value++;
    onInvalid(socket, reason);
    socket.destroy();
  }

  function accept(socket: Socket, { version, ends, tlvs }: ProxyHeader): void {
    stats.found[version].value++;
    const { remoteAddress, remotePort = 0 } = socket;
    const peer = { address: plainAddress(remoteAddress), port: remotePort };
    setProxied(socket, { peer, metadata: tlvMetadata(tlvs, settings) }, ends);
    onReady(socket);
  }

  function receive(socket: Socket): void {
    let bytes: Buffer = Buffer.alloc(0);
    const timer = setTimeout(expire, timeoutMs).unref();
    const waiting = { expire };

    function stop(): void {
      clearTimeout(timer);
      pending.delete(waiting);
      socket.removeListener('readable', read).removeListener('end', ended).removeListener('close', stop);
    }

    function expire(): void {
      stop();
      if (bytes.length > 0) return reject(socket, { version: undefined, reason: TIMEOUT });
      onInvalid(socket, TIMEOUT);
      socket.destroy();
    }

    /** A connection that closes without a byte is a check of the port. */
    function ended(): void {
      stop();
      if (bytes.length > 0) reject(socket, { version: undefined, reason: 'the PROXY header is incomplete' });
      else socket.destroy();
    }

    function read(): void {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const parsed = parseProxyHeader(bytes);
      if (parsed === undefined) return;
      stop();
      const isAbsent = isInvalid(parsed) && parsed.version === undefined;
      if (isAbsent && settings.allowRequestsWithoutProxyProtocol) {
        stats.notFoundAllowed.value++;
        socket.unshift(bytes);
        return onReady(socket);
      }
      if (isInvalid(parsed)) return reject(socket, parsed);
      if (bytes.length > parsed.length) socket.unshift(bytes.subarray(parsed.length));
      accept(socket, parsed);
    }

    pending.add(waiting);
    socket.on('readable', read).on('end', ended).on('close', stop);
  }

  return {
    receive,
    /** Closes the connections whose header is not complete after this time. */
    expire(graceMs: number): void {
      const late = [...pending];
      setTimeout(() => late.forEach((waiting) => pending.has(waiting) && waiting.expire()), graceMs).unref();
    },
  };
}
