import { connect, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { Client, ResultCodeError } from 'ldapts';
import { UnusableAnswer } from '../chain/failure.ts';

/** An unused connection is closed after this time, in milliseconds: servers close theirs at some time too. */
const IDLE_MS = 60_000;

export interface ConnectionsOptions {
  /** `ldap://host:port` or `ldaps://host:port`. */
  readonly url: string;
  /** Certificates to trust; only for `ldaps`. */
  readonly secureContext?: SecureContext;
  /** Maximum number of unused connections that are kept. */
  readonly maxIdle: number;
}

/** A connection that one caller uses at a time. */
interface Connection {
  readonly client: Client;
  /** Closes it at once; operations in progress fail. */
  destroy(): void;
  idleTimer: NodeJS.Timeout | undefined;
}

/** Connections to one LDAP server. */
export interface Connections {
  /**
   * Runs operations on a connection of their own: a kept one, else a new one. Rejects with {@link UnusableAnswer} if the
   * server cannot be reached, and with the `ResultCodeError` of an operation otherwise. `signal` ends the connection.
   */
  use<T>(work: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T>;
  close(): void;
}

/** The server responded: another connection would not help. */
function isResult(error: unknown): boolean {
  return error instanceof ResultCodeError || error instanceof UnusableAnswer;
}

/** Creates connections to one LDAP server. None is opened before the first use. */
export function createConnections({ url, secureContext, maxIdle }: ConnectionsOptions): Connections {
  const idle: Connection[] = [];
  let closed = false;

  function open(): Connection {
    let socket: Socket | undefined;
    const host = new URL(url).hostname.replaceAll(/[[\]]/g, '');
    const client = new Client({
      url,
      createConnection: ((port: number) => (socket = connect({ port, host, noDelay: true }))) as typeof connect,
      createSecureConnection: ((port: number) =>
        (socket = connectTls({ port, host, secureContext }))) as unknown as typeof connectTls,
    });
    return {
      client,
      idleTimer: undefined,
      // With an error, so that an operation that waits for the connection fails too.
      destroy: () => void socket?.destroy(new Error('the connection was closed')),
    };
  }

  function take(): Connection | undefined {
    for (let found = idle.pop(); found; found = idle.pop()) {
      clearTimeout(found.idleTimer);
      if (found.client.isConnected) return found;
    }
    return undefined;
  }

  function keep(connection: Connection): void {
    if (closed || idle.length >= maxIdle || !connection.client.isConnected) return connection.destroy();
    connection.idleTimer = setTimeout(() => {
      const i = idle.indexOf(connection);
      if (i >= 0) idle.splice(i, 1);
      connection.destroy();
    }, IDLE_MS).unref();
    idle.push(connection);
  }

  async function run<T>(
    connection: Connection,
    work: (client: Client) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const stop = (): void => connection.destroy();
    if (signal?.aborted) throw signal.reason;
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const result = await work(connection.client);
      keep(connection);
      return result;
    } catch (error) {
      if (error instanceof ResultCodeError) keep(connection);
      else connection.destroy();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  return {
    async use(work, signal) {
      const kept = take();
      try {
        if (kept) {
          try {
            return await run(kept, work, signal);
          } catch (error) {
            // The server may have closed a kept connection at this moment.
            if (isResult(error) || signal?.aborted) throw error;
          }
        }
        return await run(open(), work, signal);
      } catch (cause) {
        if (isResult(cause) || signal?.aborted) throw cause;
        throw new UnusableAnswer(`${new URL(url).host} cannot be reached`, { cause });
      }
    },
    close() {
      closed = true;
      for (const connection of idle.splice(0)) {
        clearTimeout(connection.idleTimer);
        connection.destroy();
      }
    },
  };
}
