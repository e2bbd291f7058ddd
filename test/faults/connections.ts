import { Agent, type Dispatcher } from 'undici';

/** Connections that are used again, but not after they were idle for some time. */
export interface Connections {
  /** Returns what sends the next request. */
  current(): Dispatcher;
}

/**
 * Idle ones are closed before a gateway that was replaced could be taken for the one before, and before a gateway that drains
 * closes them.
 */
const IDLE_MS = 250;
const OPTIONS = {
  headersTimeout: 60_000,
  bodyTimeout: 60_000,
  keepAliveTimeout: IDLE_MS,
  // Whatever a gateway offers.
  keepAliveMaxTimeout: IDLE_MS,
};
const CHECK_MS = 20;

/** Creates a set of connections. */
export function createConnections(): Connections {
  let agent = new Agent(OPTIONS);
  let checkedAt = performance.now();

  /** On a busy machine this process may have been kept waiting for longer than connections may be idle: its timers are late then. */
  function check(): void {
    const now = performance.now();
    if (now - checkedAt > IDLE_MS / 2) {
      void agent.close();
      agent = new Agent(OPTIONS);
    }
    checkedAt = now;
  }

  setInterval(check, CHECK_MS).unref();
  return {
    current() {
      check();
      return agent;
    },
  };
}
