import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  FilteredResponse,
  type FailureReply,
  type FilteredHead,
  type FilterOwner,
  type Handler,
  type ResponseFilter,
  type TunnelHead,
} from '@edge-gateway/core';
import { VIA_UPSTREAM, type RequestResult } from '../format/record.ts';
import type { ManagerSettings } from '../route/options/manager-settings.ts';
import { replyTo, type LocalReply } from './reply.ts';
import { finishResponse } from './response-headers.ts';

/** A request whose response is filtered. */
export interface FilteredRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly head: { readonly requestId: string };
  readonly result: RequestResult;
  readonly settings: ManagerSettings;
  /** True once it was passed to the forwarder. */
  readonly sent: boolean;
  forClient(reply: LocalReply): LocalReply;
  finish(): void;
}

/** The response of a request whose route has filters for responses. */
export class RequestFilters implements FilterOwner {
  /** Handlers in the order of requests. Replaced when the route is selected again. */
  handlers: readonly Handler[] = [];
  /** True once the gateway responds itself. */
  isLocalReply = false;
  /** True if the log waits for the response. */
  isAwaited = false;
  readonly response: FilteredResponse;
  readonly #request: FilteredRequest;

  constructor(request: FilteredRequest) {
    this.#request = request;
    this.response = new FilteredResponse(request.req, request.res, this);
  }

  filters() {
    return this.handlers.flatMap((handler) => handler.filterResponse?.(this.#request.req) ?? []);
  }

  describe(): Pick<FilteredHead, 'details' | 'flags' | 'isLocalReply'> {
    const { details, flags } = this.#request.result;
    const { isLocalReply } = this;
    return { isLocalReply, details: !isLocalReply && this.#request.sent ? VIA_UPSTREAM : details, flags };
  }

  onHead(status: number, headers: string[]): string[] {
    const { result, settings } = this.#request;
    finishResponse(headers, settings);
    result.status = status;
    result.responseHeaders = headers;
    return headers;
  }

  /** Returns the headers of a response that opens a tunnel, after the filters; at once unless a filter is asynchronous. */
  onTunnel(status: number, headers: string[]): string[] | Promise<string[]> {
    const head: TunnelHead = { status, headers, ...this.describe(), hasBody: false };
    const filters = this.filters().toReversed();
    for (const [i, filter] of filters.entries()) {
      const pending = filter.onTunnel?.(head);
      if (pending) return this.#opensLater(pending, filters.slice(i + 1), head).then(() => this.#opens(status, head));
    }
    return this.#opens(status, head);
  }

  async #opensLater(pending: Promise<void>, others: readonly ResponseFilter[], head: TunnelHead): Promise<void> {
    await pending;
    for (const filter of others) await filter.onTunnel?.(head);
  }

  /** The status of a tunnel cannot be changed. */
  #opens(status: number, { headers }: TunnelHead): string[] {
    // Over HTTP/2 the tunnel is written to the response.
    this.response.detach();
    return this.onHead(status, headers);
  }

  onTrailers(trailers: readonly string[]): void {
    this.#request.result.responseTrailers = trailers;
  }

  onError(error: unknown): FailureReply {
    const { result, head } = this.#request;
    const { status, headers, body, contentType } = this.#request.forClient(replyTo(error, head.requestId));
    result.details = error instanceof Error ? error.message : String(error);
    return { status, body, headers: contentType === '' ? headers : [...headers, 'content-type', contentType] };
  }

  onSettled(): void {
    const { result } = this.#request;
    const { bytes, isComplete } = this.response;
    if (bytes !== undefined) result.bytesSent = bytes;
    if (this.isAwaited && !isComplete) result.flags ||= 'DC';
    if (this.isAwaited) this.#request.finish();
  }
}
