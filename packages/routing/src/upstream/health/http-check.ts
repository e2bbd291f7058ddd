import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Connector } from '../connector.ts';
import { BodyStart } from './body-start.ts';
import { activeFailure, networkFailure, type CheckResult, type Probe } from './probe.ts';
import type { CheckRequest, HttpExpectations } from './http-expectations.ts';

/** Maximum size of a body that is inspected; the rest is ignored. */
export const MAX_BODY = 1024 * 1024;

export interface HttpProbeParts {
  readonly connect: Connector;
  readonly request: () => CheckRequest;
  readonly expectations: HttpExpectations;
  readonly reuse: boolean;
}

/** The only connection of a probe. */
class CheckAgent extends Agent {
  readonly #connect: Connector;
  #closed = 0;

  constructor(connect: Connector, reuse: boolean) {
    super({ keepAlive: reuse, maxSockets: 1 });
    this.#connect = connect;
  }

  override createConnection(_options: unknown, callback?: (error: Error | null, stream: Duplex) => void): undefined {
    const closed = this.#closed;
    this.#connect((error, socket) => {
      if (closed === this.#closed) return callback?.(error, socket!);
      socket?.destroy();
      return callback?.(error ?? new Error('the check was cancelled'), undefined!);
    });
  }

  override destroy(): void {
    this.#closed++;
    super.destroy();
  }
}

/** Checks over HTTP/1.1. */
export class HttpProbe implements Probe {
  readonly #parts: HttpProbeParts;
  readonly #agent: CheckAgent;
  #active: ClientRequest | undefined;
  #done: ((result: CheckResult) => void) | undefined;

  constructor(parts: HttpProbeParts) {
    this.#parts = parts;
    this.#agent = new CheckAgent(parts.connect, parts.reuse);
  }

  run(done: (result: CheckResult) => void): void {
    this.#done = done;
    this.#send();
  }

  cancel(): void {
    this.#done = undefined;
    this.#active?.destroy();
    this.#active = undefined;
    this.close();
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(): void {
    const { method, path, headers } = this.#parts.request();
    const sent = request({ agent: this.#agent, method, path, headers, setHost: false });
    this.#active = sent;
    sent.on('response', (response) => this.#read(sent, response));
    sent.on('upgrade', (_response, socket) => {
      socket.destroy();
      this.#settle(sent, activeFailure('unsolicited 101 response'));
    });
    sent.on('error', (error) => this.#failed(sent, error));
    sent.end();
  }

  /** The peer may close an idle connection at any time: that says nothing about its health. */
  #failed(sent: ClientRequest, error: Error): void {
    if (this.#active !== sent) return;
    if (sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET') return this.#send();
    this.#settle(sent, networkFailure(error));
  }

  #read(sent: ClientRequest, response: IncomingMessage): void {
    const { expectations } = this.#parts;
    const start = new BodyStart(expectations.readsBody ? MAX_BODY : 0);
    response.on('data', (chunk: Buffer) => start.add(chunk));
    response.on('error', (error) => this.#settle(sent, networkFailure(error)));
    response.on('end', () => {
      const { statusCode = 0, headers } = response;
      this.#settle(sent, expectations.check(statusCode, { headers, body: start.bytes.toString() }));
    });
  }

  #settle(sent: ClientRequest, result: CheckResult): void {
    if (this.#active === sent) this.#finish(result);
  }

  #finish(result: CheckResult): void {
    this.#active = undefined;
    const done = this.#done;
    this.#done = undefined;
    done?.(result);
  }
}
