import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import { BodyStart } from './body-start.ts';
import { Http2Link } from './http2-link.ts';
import { networkFailure, type CheckResult, type Probe, type ProbeTarget } from './probe.ts';

/** A complete response over HTTP/2. */
export interface Http2Response {
  readonly head: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Http2ProbeParts extends Pick<ProbeTarget, 'connect' | 'tls'> {
  readonly reuse: boolean;
  /** Maximum size of a body that is inspected, in bytes; the rest is ignored. */
  readonly maxBytes: number;
  /** Returns the request of the next check. */
  request(): { readonly headers: OutgoingHttpHeaders; readonly body?: Buffer };
  resultOf(response: Http2Response): CheckResult;
}

/** Checks over one HTTP/2 connection, with prior knowledge on plain connections. */
export class Http2Probe implements Probe {
  readonly #parts: Http2ProbeParts;
  readonly #link: Http2Link;
  #done: ((result: CheckResult) => void) | undefined;

  constructor(parts: Http2ProbeParts) {
    this.#parts = parts;
    this.#link = new Http2Link(parts.connect, parts.tls, parts.reuse);
  }

  run(done: (result: CheckResult) => void): void {
    this.#done = done;
    const { request, resultOf, maxBytes } = this.#parts;
    let head: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    const body = new BodyStart(maxBytes);
    this.#link.send({
      ...request(),
      onFailure: (error) => this.#fail(error),
      onStream: (stream) => {
        stream.on('response', (received) => (head = received));
        stream.on('trailers', (received) => (trailers = received));
        stream.on('data', (chunk: Buffer) => body.add(chunk));
        stream.on('end', () => {
          if (head[':status'] === undefined) return this.#fail(new Error('no response'));
          this.#link.release();
          this.#finish(resultOf({ head, trailers, body: body.bytes }));
        });
      },
    });
  }

  cancel(): void {
    this.#done = undefined;
    this.close();
  }

  close(): void {
    this.#link.close();
  }

  #fail(error: Error): void {
    if (!this.#done) return;
    this.#link.close();
    this.#finish(networkFailure(error));
  }

  #finish(result: CheckResult): void {
    const done = this.#done;
    this.#done = undefined;
    done?.(result);
  }
}
