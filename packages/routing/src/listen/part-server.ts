import type { Socket } from 'node:net';
import type { Context, ListenerPart } from '@edge-gateway/core';
import { ConnectionRate } from './connection-rate.ts';
import type { OnConnection } from './connection-log.ts';
import { createHttpTarget } from './http-target.ts';
import { limitsOf, type ListenLimits } from './limits.ts';
import type { ListeningRouter } from './listening-router.ts';
import type { ListenStats } from './listen-stats.ts';
import type { MemoryWatch } from './memory-watch.ts';
import { Overflow } from './overflow.ts';
import type { PortSettings } from './port-settings.ts';
import type { Target } from './connection-target.ts';
import { createTcpTarget } from './tcp-target.ts';

export interface SlotParts {
  /** Name of the listener. */
  readonly listener: string;
  readonly context: Context;
  readonly router: ListeningRouter;
  readonly limits: Partial<ListenLimits>;
  readonly memory: MemoryWatch;
  readonly stats: ListenStats;
  readonly ticketSecret: () => Uint8Array | undefined;
  /** False if the listener itself limits the number of connections, because it has no other part. */
  readonly hasOwnLimit: boolean;
}

/** One part of a listener, with the limits of its connections. It stays the same while the part changes. */
export class PartServer {
  readonly #parts: SlotParts;
  readonly #rate: ConnectionRate;
  readonly #overflow: Overflow | undefined;
  readonly #target: Target;
  readonly #apply: (part: ListenerPart, settings: PortSettings) => readonly string[];
  #onConnection: OnConnection | undefined;
  readonly servesHttp: boolean;
  limits: ListenLimits;

  constructor({ name, http }: ListenerPart, parts: SlotParts) {
    const { context, listener, router } = parts;
    this.#parts = parts;
    this.servesHttp = http !== undefined;
    this.limits = limitsOf({ httpOptions: {} }, parts.limits);
    this.#rate = new ConnectionRate(context.metrics, context.processes);
    if (parts.hasOwnLimit) {
      this.#overflow = new Overflow({
        maxConnections: () => this.limits.maxConnections,
        overflowDelayMs: () => this.limits.overflowDelayMs,
      });
    }
    if (http) {
      const handler = router.listener(name);
      const target = createHttpTarget(name, {
        ...parts,
        handler,
        onRefused: (record) => router.logRefused?.(name, record),
      });
      this.#target = target;
      this.#apply = (part, settings) => target.update(part.http!, settings);
    } else {
      const target = createTcpTarget(name, {
        ...parts,
        limits: this.limits,
        serve: (socket, host) => router.serveTcp?.(listener, socket, host),
      });
      this.#target = target;
      this.#apply = (part, settings) => target.update(part.tcp!, settings);
    }
  }

  get hasOwnLimit(): boolean {
    return this.#overflow !== undefined;
  }

  /** True while it must still be drained. */
  get hasConnections(): boolean {
    return this.#target.hasConnections;
  }

  get servable(): boolean {
    return this.#target.servable;
  }

  /** Applies the newest version to new connections, and returns its problems. Existing connections stay unchanged. */
  update(part: ListenerPart, settings: PortSettings): readonly string[] {
    const { connectionLimit, localRatelimit } = part.tcp?.options ?? {};
    const httpOptions = part.http?.httpOptions ?? { connectionLimit, networkLocalRatelimit: localRatelimit };
    this.limits = limitsOf({ httpOptions }, this.#parts.limits);
    this.#rate.update(httpOptions);
    this.#onConnection = settings.onConnection;
    return this.#apply(part, settings);
  }

  accept(socket: Socket): void {
    if (!this.#rate.accepts()) return void socket.destroy();
    if (!this.#overflow) return this.#target.accept(socket);
    if (this.#overflow.accepts) return this.#target.accept(this.#overflow.count(socket));
    this.#parts.stats.overflow.value++;
    this.#onConnection?.(socket)('connection_limit');
    this.#overflow.closeLater(socket);
  }

  drain(graceMs: number): void {
    this.#target.drain(graceMs);
  }

  retire(): void {
    this.#target.retire();
  }

  renewTickets(): void {
    this.#target.renewTickets();
  }
}
