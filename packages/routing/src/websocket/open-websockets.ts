import type { WebSocketTunnel } from './websocket-tunnel.ts';

/** The forwarded WebSockets that are open, by the name of their listener. */
export class OpenWebSockets {
  readonly #byListener = new Map<string, Set<WebSocketTunnel>>();

  add(listener: string, tunnel: WebSocketTunnel): void {
    const tunnels = this.#byListener.get(listener);
    if (tunnels) tunnels.add(tunnel);
    else this.#byListener.set(listener, new Set([tunnel]));
  }

  remove(listener: string, tunnel: WebSocketTunnel): void {
    const tunnels = this.#byListener.get(listener);
    tunnels?.delete(tunnel);
    if (tunnels?.size === 0) this.#byListener.delete(listener);
  }

  /** Closes those of a listener. */
  close(listener: string): void {
    for (const tunnel of this.#byListener.get(listener) ?? []) tunnel.close();
  }

  closeAll(): void {
    for (const tunnels of this.#byListener.values()) for (const tunnel of tunnels) tunnel.close();
  }
}
