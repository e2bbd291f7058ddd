import type { Endpoint } from '@edge-gateway/core';
import type { ForwardHead, ForwardOutcome } from '../forward/forward.ts';
import type { RoutedRequest } from './routed-request.ts';

/** A request as the forwarder gets it. */
export class UpstreamRequest implements ForwardHead {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly endpoint: Endpoint | undefined;
  readonly body: Buffer | undefined;
  readonly timeoutMs: number;
  readonly #request: RoutedRequest;

  constructor(request: RoutedRequest, timeoutMs: number, body: Buffer | undefined) {
    const { head, endpoint } = request;
    this.method = head.method;
    this.path = head.path;
    this.headers = head.headers;
    this.endpoint = endpoint;
    this.body = body;
    this.timeoutMs = timeoutMs;
    this.#request = request;
  }

  onResponseHead(status: number, headers: string[]): string[] {
    return this.#request.onResponseHead(status, headers);
  }

  onDone(outcome: ForwardOutcome): void {
    this.#request.onDone(outcome);
  }
}
