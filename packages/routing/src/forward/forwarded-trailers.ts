import type { ServerResponse } from 'node:http';
import { grpcTypeOf } from '@edge-gateway/core';
import { findHeader } from '../http1/flat-headers.ts';
import { UpstreamProtocolError } from '../http1/errors.ts';
import { announcedTrailers, forwardableTrailers, withoutIdentity, type TrailerRules } from '../http1/trailers.ts';
import type { ForwardHead } from './forward.ts';

const NONE: readonly string[] = [];

/** The trailers of one exchange, in both directions. */
export class ForwardedTrailers {
  readonly #res: ServerResponse;
  readonly #head: ForwardHead;
  readonly #rules: TrailerRules;
  readonly #maxFields: number;
  /** Headers of the response; `undefined` for a response that has no chunks. */
  #headers: readonly string[] | undefined;

  constructor(res: ServerResponse, head: ForwardHead, rules: TrailerRules, maxFields: number) {
    this.#res = res;
    this.#head = head;
    this.#rules = rules;
    this.#maxFields = maxFields;
  }

  /** True if trailers of any response are read. */
  get forFilter(): boolean {
    return this.#rules.forFilter === true;
  }

  /** Returns the trailers of the request that are forwarded. */
  readonly ofRequest = (raw: readonly string[]): readonly string[] =>
    raw.length === 0 || this.#rules.forFilter
      ? NONE
      : withoutIdentity(forwardableTrailers(raw, this.#head.headers, this.#rules), this.#head.guardedNames);

  /** Adds `Trailer` to the headers of a chunked response. HTTP/1.0 has no trailers, and filters may replace the framing. */
  announce(headers: string[], trailer: string | undefined): void {
    if (this.#rules.forFilter) {
      this.#headers = headers;
      return;
    }
    this.#headers = this.#res.req.httpVersion === '1.0' ? undefined : headers;
    if (!this.#headers || trailer === undefined) return;
    const value = announcedTrailers(trailer, this.#rules);
    const isUnchanged = !Object.hasOwn(this.#res, 'writeHead');
    if (value !== '' && isUnchanged) headers.push('trailer', value);
  }

  /** Adds these trailers to the response. Returns true if it must be sent in chunks. */
  add(received: readonly string[]): boolean {
    if (!this.#headers) return false;
    if (received.length > 2 * this.#maxFields) throw new UpstreamProtocolError('too many trailers');
    // gRPC metadata may use the same name in headers and trailers.
    const isGrpc = grpcTypeOf(findHeader(this.#headers, 'content-type') ?? '') !== undefined;
    const trailers = forwardableTrailers(received, isGrpc ? NONE : this.#headers, this.#rules);
    if (trailers.length > 0) {
      this.#head.onTrailers?.(trailers);
      const pairs: [string, string][] = [];
      for (let i = 0; i < trailers.length; i += 2) pairs.push([trailers[i]!.toLowerCase(), trailers[i + 1]!]);
      this.#res.addTrailers(pairs);
    }
    return trailers.length > 0 || this.#headers.includes('trailer');
  }
}
