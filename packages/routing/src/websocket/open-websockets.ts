import type { WebSocketTunnel } from './websocket-tunnel.ts';

/** The forwarded WebSockets that are open, by the name of their listener. */
export class OpenWebSockets {
  readonly #byListener = new Map<string, Set<WebSocketTunnel>>();
  /** Listeners that have been drained and not opened again. A name is an address and a port, so there are few of them. */
  readonly #drained = new Set<string>();

  /** Adds one that has opened. It is closed at once if the handshake ended after its listener was drained. */
  add(listener: string, tunnel: WebSocketTunnel): void {
    const tunnels = this.#byListener.get(listener);
    if (tunnels) tunnels.add(tunnel);
    else this.#byListener.set(listener, new Set([tunnel]));
    if (this.#drained.has(listener)) tunnel.close();
  }

  remove(listener: string, tunnel: WebSocketTunnel): void {
    const tunnels = this.#byListener.get(listener);
    tunnels?.delete(tunnel);
    if (tunnels?.size === 0) this.#byListener.delete(listener);
  }

  /** Called when a listener opens, perhaps again after a drain. */
  opened(listener: string): void {
    this.#drained.delete(listener);
  }

  /** Closes those of a listener, and those that open later. */
  drain(listener: string): void {
    this.#drained.add(listener);
    for (const tunnel of this.#byListener.get(listener) ?? []) tunnel.close();
  }

  closeAll(): void {
    for (const tunnels of this.#byListener.values()) for (const tunnel of tunnels) tunnel.close();
  }
}
