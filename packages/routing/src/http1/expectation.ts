import type { IncomingMessage, ServerResponse } from 'node:http';

const EXPECTATIONS = new WeakMap<IncomingMessage, Expectation>();

/** The `100 Continue` that a client waits for. A response without it closes the connection: later bytes could be the body. */
export class Expectation {
  readonly #res: ServerResponse;
  readonly #keepAlive: boolean;
  #isMet = false;
  #isDeferred = false;

  constructor(req: IncomingMessage, res: ServerResponse) {
    this.#res = res;
    this.#keepAlive = res.shouldKeepAlive;
    res.shouldKeepAlive = false;
    EXPECTATIONS.set(req, this);
  }

  /** Returns true if the upstream decides from now on: reading the body does not send `100 Continue`. */
  defer(): boolean {
    return (this.#isDeferred = !this.#isMet);
  }

  bodyRead(): void {
    if (!this.#isDeferred) this.meet();
  }

  /** Sends `100 Continue`, once. */
  meet(): void {
    if (this.#isMet || this.#res.headersSent) return;
    this.#isMet = true;
    this.#res.shouldKeepAlive = this.#keepAlive;
    this.#res.writeContinue();
  }
}

/** Returns the expectation of a request with `Expect: 100-continue`. */
export const expectationOf = (req: IncomingMessage): Expectation | undefined => EXPECTATIONS.get(req);
