import type { IncomingHttpHeaders } from 'node:http2';
import { Http2Link, http2Headers } from './http2-link.ts';
import type { HttpProbeParts } from './http-check.ts';
import { networkFailure, type CheckResult, type Probe } from './probe.ts';

/** Maximum size of a body that is inspected; the rest is ignored. */
const MAX_BODY = 1024 * 1024;

/** Checks over HTTP/2, with prior knowledge on plain connections. */
export class Http2Probe implements Probe {
  readonly #parts: HttpProbeParts;
  readonly #link: Http2Link;
  #done: ((result: CheckResult) => void) | undefined;

  constructor(parts: HttpProbeParts & { readonly tls: boolean }) {
    this.#parts = parts;
    this.#link = new Http2Link(parts.connect, parts.tls, parts.reuse);
  }

  run(done: (result: CheckResult) => void): void {
    this.#done = done;
    const { request, expectations } = this.#parts;
    const { method, path, headers: flat } = request();
    let received: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    let length = 0;
    this.#link.send({
      headers: http2Headers(method, path, flat),
      onFailure: (error) => this.#fail(error),
      onStream: (stream) => {
        stream.on('response', (head) => (received = head));
        stream.on('data', (chunk: Buffer) => {
          if (!expectations.readsBody || length >= MAX_BODY) return;
          length += chunk.length;
          chunks.push(chunk);
        });
        stream.on('end', () => {
          const body = Buffer.concat(chunks).toString('utf8', 0, MAX_BODY);
          const status = Number(received[':status'] ?? 0);
          if (status === 0) return this.#fail(new Error('no response'));
          this.#link.release();
          this.#finish(expectations.check(status, { headers: received, body }));
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
