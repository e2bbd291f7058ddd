import { startInterval, startTimer } from '@edge-gateway/core';
import { UpstreamClosedError } from '../../http1/errors.ts';

/** A `PING` that is not confirmed after this time casts doubt on the connection, in milliseconds. */
const DOUBT_MS = 1000;

/** The part of a connection that a check uses. */
export interface PingedConnection {
  /** Number of received bytes. */
  readonly receivedBytes: number;
  ping(): void;
  /** The peer has confirmed the `PING`, or sent something else meanwhile. */
  onResponsive(): void;
  /** The peer has sent nothing for some time: it may be gone. */
  onDoubt(): void;
  /** The peer is silent: the connection is of no more use. */
  onSilent(error: Error): void;
}

export interface PingSettings {
  /** Time between two checks; 0 checks only on request. */
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

/** Checks by `PING` that the peer of a connection still responds, one check at a time. Its timers keep no process alive. */
export class PingCheck {
  readonly #connection: PingedConnection;
  readonly #timeoutMs: number;
  readonly #interval: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: PingedConnection, { intervalMs, timeoutMs }: PingSettings) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
    if (intervalMs > 0) this.#interval = startInterval(() => this.start(), intervalMs).unref();
  }

  /** Begins a check, unless one is in progress. */
  start(): void {
    if (this.#timer) return;
    const connection = this.#connection;
    const doubtMs = Math.min(DOUBT_MS, this.#timeoutMs);
    this.#wait(doubtMs, () => {
      connection.onDoubt();
      this.#wait(this.#timeoutMs - doubtMs, () =>
        connection.onSilent(new UpstreamClosedError(`no response to a PING in ${this.#timeoutMs} ms`)),
      );
    });
    connection.ping();
  }

  /** The peer has confirmed the `PING`. */
  confirmed(): void {
    this.#end();
    this.#connection.onResponsive();
  }

  stop(): void {
    clearInterval(this.#interval);
    this.#end();
  }

  /** Continues after this time if nothing is received meanwhile. */
  #wait(delayMs: number, next: () => void): void {
    const connection = this.#connection;
    const { receivedBytes } = connection;
    const timer = (this.#timer = startTimer(() => {
      // Data that has already arrived is read first: this process may have been blocked.
      setImmediate(() => {
        if (this.#timer !== timer) return;
        this.#timer = undefined;
        if (connection.receivedBytes === receivedBytes) next();
        else connection.onResponsive();
      });
    }, delayMs).unref());
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
