import { startTimer } from '@edge-gateway/core';
import type { Socket } from 'node:net';

/** How many of the first bytes are consumed, and what then happens with the connection. */
export interface Decision {
  readonly consumed: number;
  readonly proceed: () => void;
}

/** How the first bytes of a connection are read. */
export interface FirstBytesRules {
  /** Maximum time until they decide. */
  readonly timeoutMs: number;
  /** Returns `undefined` if more bytes are needed. Must decide within a bounded number of bytes. */
  decide(bytes: Buffer): Decision | undefined;
  /** Called if the client sends no more, or not in time; the connection is closed afterwards. */
  undecided(bytes: Buffer, reason: 'end' | 'timeout'): void;
}

const NO_BYTES: Buffer = Buffer.alloc(0);

function proceed(socket: Socket, decision: Decision): void {
  if (!socket.destroyed) decision.proceed();
}

/** Reads the first bytes of connections that are not served yet, and returns those that are not consumed to the socket. */
export class FirstBytes {
  readonly #pending = new Set<() => void>();

  read(socket: Socket, { timeoutMs, decide, undecided }: FirstBytesRules): void {
    let bytes = NO_BYTES;

    const stop = (): void => {
      clearTimeout(timer);
      this.#pending.delete(expire);
      socket.off('readable', readMore).off('end', ended).off('close', stop);
    };
    const giveUp = (reason: 'end' | 'timeout'): void => {
      stop();
      undecided(bytes, reason);
      socket.destroy();
    };
    const expire = (): void => giveUp('timeout');
    const ended = (): void => giveUp('end');
    const readMore = (): void => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const decision = decide(bytes);
      if (!decision) return;
      stop();
      if (bytes.length > decision.consumed) socket.unshift(bytes.subarray(decision.consumed));
      // The socket notices in the next tick that nobody waits for `readable`; it would then drop bytes that HTTP/2 has returned to it.
      process.nextTick(proceed, socket, decision);
    };
    const timer = startTimer(expire, timeoutMs).unref();
    this.#pending.add(expire);
    socket.on('readable', readMore).on('end', ended).on('close', stop);
    // The event is not repeated for bytes that an earlier reader returned.
    readMore();
  }

  /** Closes the connections that are not decided after this time. */
  expire(graceMs: number): void {
    if (this.#pending.size === 0) return;
    const late = [...this.#pending];
    startTimer(() => late.forEach((expire) => this.#pending.has(expire) && expire()), graceMs).unref();
  }
}
