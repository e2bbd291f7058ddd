import { GatewayError, type Context, type Listener, type Snapshot, startTimer } from '@edge-gateway/core';
import { routingError } from '../error-codes.ts';
import type { PortSharing } from './acceptor.ts';
import { withUsableParser } from './http1/choose-parser.ts';
import { listOf } from '../upstream/dynamic/address-policy.ts';
import { createListenerPort, type ListenerPort } from './listener-port.ts';
import { createMemoryWatch, type MemoryUse } from './memory-watch.ts';
import { createConnectionBudget } from './open-files.ts';
import type { ListenLimits } from './limits.ts';
import type { ListeningRouter } from './listening-router.ts';

/** The result of opening one listener of a snapshot. */
export interface ListenResult {
  readonly name: string;
  /** The address it listens on; missing if it does not listen. */
  readonly address?: string;
  readonly port?: number;
  /**
   * `ERR_ROUTING_LISTEN` if the address cannot be opened (retried periodically, and at the next apply),
   * `ERR_ROUTING_CERTIFICATE` if a certificate cannot be used (the listener keeps serving the others, or the previous one).
   */
  readonly error?: GatewayError;
}

/** The address of a listener. */
export interface ListenAddress {
  readonly name: string;
  readonly address: string;
  readonly port: number;
}

/** The listening side of a data plane. */
export interface Listeners {
  /** Opens new listeners, closes removed ones, and applies the newest settings to the others. Never rejects. */
  apply(snapshot: Snapshot): Promise<ListenResult[]>;
  addresses(): ListenAddress[];
  /**
   * Sets the secret from which the keys of TLS session tickets are derived: processes with the same secret resume each other's sessions.
   * Tickets of an earlier secret are not accepted. Default: each listener has a random key of its own.
   */
  setTicketSecret(secret: Uint8Array): void;
  /**
   * Stops accepting and lets requests finish: each connection closes with its next response, idle ones soon, GraphQL
   * subscriptions end immediately. After `limitMs`, all remaining connections are closed, including WebSockets.
   */
  drain(limitMs: number): Promise<void>;
  /** Closes all listeners and connections immediately. */
  close(): Promise<void>;
}

/** Options of {@link createListeners}. */
export interface ListenersOptions {
  readonly router: ListeningRouter;
  readonly context: Context;
  /** Address to listen on instead of those of the snapshot. */
  readonly host?: string;
  /** Returns the port of a listener; 0 is any free one. Default: its `bindPort`. */
  readonly portOf?: (listener: Listener) => number;
  /** Returns how processes share the port of a listener that opens. Default: it is not shared. */
  readonly sharingOf?: (listener: Listener) => PortSharing;
  /** Called after each attempt to open the listeners: those of `apply`, and retries. */
  readonly onResults?: (results: readonly ListenResult[]) => void;
  /** Limits for listeners that do not set their own. */
  readonly limits?: Partial<ListenLimits>;
  /**
   * Addresses or CIDR ranges of proxies whose connections begin with a PROXY header, on all listeners: Envoys that hand over connections and
   * requests. Other connections are not affected.
   */
  readonly proxyProtocolFrom?: readonly string[] | undefined;
}

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

/**
 * Opens the listeners of snapshots and serves them with a router.
 *
 * @example
 * const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
 * const results = await listeners.apply(snapshot);
 */
export function createListeners(options: ListenersOptions): Listeners {
  const { router, context, host, portOf = (listener) => listener.bindPort, sharingOf } = options;
  let ticketSecret: Uint8Array | undefined;
  const log = context.log.get('conn_handler');
  const proxies = options.proxyProtocolFrom && listOf(options.proxyProtocolFrom);
  const limits = withUsableParser(options.limits ?? {}, log);
  const budget = createConnectionBudget();
  const memory = createMemoryWatch({
    onChange: (isScarce, use) =>
      isScarce
        ? log.warn(sharesOf(use), 'memory is scarce, rejecting requests')
        : log.info(sharesOf(use), 'memory is sufficient, serving requests'),
  });
  const ports = new Map<string, ListenerPort>();
  const leaving = new Map<ListenerPort, Promise<void>>();
  /** The failures of listeners at the last apply, by name. */
  const reported = new Map<string, string>();
  let queue: Promise<unknown> = Promise.resolve();
  let snapshot: Snapshot | undefined;
  let retry: NodeJS.Timeout | undefined;
  let retryMs = FIRST_RETRY_MS;
  let ended = false;

  async function openOne(listener: Listener): Promise<ListenResult> {
    const { name } = listener;
    let port = ports.get(name);
    if (!port) {
      const ticketSecretOf = () => ticketSecret;
      port = createListenerPort(name, {
        context,
        router,
        limits,
        budget,
        memory,
        proxies,
        ticketSecret: ticketSecretOf,
      });
      ports.set(name, port);
    }
    try {
      const problems = port.update(listener);
      if (!port.servable) throw certificateError(name, problems);
      const isNew = !port.acceptor;
      const sharing = sharingOf?.(listener);
      await port.open({ address: host ?? listener.bindAddress, port: portOf(listener), sharing });
      const { address, port: number } = port.acceptor!;
      if (isNew) log.info({ listener: name, address, port: number, tls: listener.ssl }, 'listening');
      const error = problems.length > 0 ? certificateError(name, problems) : undefined;
      return { name, address, port: number, error };
    } catch (error) {
      return { name, error: asError(error) };
    }
  }

  function closeOne(port: ListenerPort): void {
    ports.delete(port.name);
    log.info({ listener: port.name }, 'listener removed');
    // Another listener may open its port next.
    port.stop();
    leaving.set(
      port,
      port.drain(port.drainTimeoutMs).finally(() => leaving.delete(port)),
    );
  }

  async function applyNow(next: Snapshot): Promise<ListenResult[]> {
    clearTimeout(retry);
    if (ended) return [];
    const wanted = new Set(next.listeners.map(({ name }) => name));
    for (const port of ports.values()) if (!wanted.has(port.name)) closeOne(port);
    const results: ListenResult[] = [];
    for (const listener of next.listeners) results.push(await openOne(listener));
    report(results);
    options.onResults?.(results);
    if (results.some(({ port }) => port === undefined)) planRetry(next);
    else retryMs = FIRST_RETRY_MS;
    return results;
  }

  /** Logs a failure once, not at every retry. */
  function report(results: readonly ListenResult[]): void {
    const before = new Map(reported);
    reported.clear();
    for (const { name, error, port } of results) {
      if (!error) continue;
      const failure = `${port} ${error.code} ${error.message}`;
      reported.set(name, failure);
      if (before.get(name) === failure) continue;
      const what = port === undefined ? 'listener failed' : 'listener cannot use one of its certificates';
      log.error({ listener: name, errorCode: error.code, reason: error.message }, what);
    }
  }

  function planRetry(next: Snapshot): void {
    retry = startTimer(() => void (next === snapshot && enqueue(next)), retryMs).unref();
    retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
  }

  function enqueue(next: Snapshot): Promise<ListenResult[]> {
    const applied = queue.then(() => applyNow(next));
    queue = applied;
    return applied;
  }

  /** Stops opening listeners; returns the open ones, including those that are being removed. */
  async function end(): Promise<ListenerPort[]> {
    ended = true;
    clearTimeout(retry);
    await queue;
    const open = [...ports.values(), ...leaving.keys()];
    ports.clear();
    return open;
  }

  return {
    apply(next) {
      snapshot = next;
      return enqueue(next);
    },
    addresses: () =>
      [...ports.values()].flatMap(({ name, acceptor }) =>
        acceptor ? [{ name, address: acceptor.address, port: acceptor.port }] : [],
      ),
    setTicketSecret(secret) {
      ticketSecret = secret;
      for (const port of ports.values()) port.renewTickets();
    },
    async drain(limitMs) {
      const drained = (await end()).map((port) => port.drain(limitMs));
      router.drain?.();
      await Promise.all(drained);
      memory.close();
    },
    async close() {
      memory.close();
      for (const port of await end()) port.close();
    },
  };
}

function sharesOf({ heap, resident }: MemoryUse): Record<string, number> {
  return { heap: Math.round(heap * 100) / 100, resident: Math.round(resident * 100) / 100 };
}

function certificateError(listener: string, problems: readonly string[]): GatewayError {
  return routingError('ERR_ROUTING_CERTIFICATE', `${listener}: ${problems.join('; ')}`);
}

function asError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return routingError('ERR_ROUTING_LISTEN', 'the listener cannot be opened', error);
}
