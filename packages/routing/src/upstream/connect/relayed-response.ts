import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { ClientHttp2Stream } from 'node:http2';
import { nodeDelay } from '@edge-gateway/core';
import type { ResponseHead } from '../../http1/response-head.ts';

/** The connection or stream that a response is read from. */
type Source = Socket | ClientHttp2Stream;

/** The response of an upstream that rejects a tunnel. Data from its source is pushed into it. */
export class RelayedResponse extends Readable {
  readonly statusCode: number;
  readonly rawHeaders: readonly string[];
  readonly headers = {};
  readonly #source: Source;

  constructor({ status, headers }: ResponseHead, source: Source) {
    super();
    this.statusCode = status;
    this.rawHeaders = headers;
    this.#source = source;
    this.on('error', () => {});
  }

  setTimeout(delayMs: number, onIdle: () => void): void {
    this.#source.setTimeout(nodeDelay(delayMs), onIdle);
  }

  /** Receives a part of the body. */
  receive(chunk: Buffer): void {
    if (!this.push(chunk)) this.#source.pause();
  }

  override _read(): void {
    this.#source.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#source.destroy();
    done(error);
  }
}
