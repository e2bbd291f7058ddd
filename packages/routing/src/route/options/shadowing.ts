import { isHost, type CallUpstream, type Context, type ResourceRef } from '@edge-gateway/core';
import type { Shadowing } from '@edge-gateway/core/schema';
import { routingError } from '../../error-codes.ts';
import { findHeader, setHeader } from '../../http1/flat-headers.ts';
import { DEFAULT_TIMEOUT_MS } from '../../upstream/cluster-settings.ts';
import { isChosen } from './fraction.ts';
import { shadowLimitsOf, type ShadowLimits } from './shadow-limits.ts';
import { ShadowBody, type BodySource } from './shadow-body.ts';

/** Maximum size of a discarded response, in bytes; a longer one is aborted. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** A request as it is sent to its own upstream. */
export interface ShadowedRequest {
  readonly req: BodySource;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  /** Sent instead of the body of `req`. */
  readonly body: Buffer | undefined;
  readonly timeoutMs: number;
}

/** Sends copies of requests to another upstream, see {@link compileShadowing}. */
export class Shadow {
  readonly #upstream: ResourceRef;
  readonly #share: number;
  readonly #hostOf: (host: string) => string;
  readonly #call: CallUpstream;
  readonly #limits: ShadowLimits;
  readonly #sent = new Set<AbortController>();

  constructor(block: Shadowing, call: CallUpstream, context: Context) {
    const { upstream, percentage = 0, hostRewriteLiteral, disableShadowHostSuffixAppend } = block;
    const { name = '', namespace = '' } = upstream ?? {};
    if (hostRewriteLiteral && !isHost(hostRewriteLiteral))
      throw routingError('ERR_ROUTING_OPTION', 'hostRewriteLiteral of shadowing is not a valid host');
    this.#upstream = { name, namespace };
    this.#share = percentage / 100;
    this.#hostOf = hostRewriteLiteral
      ? () => hostRewriteLiteral
      : disableShadowHostSuffixAppend
        ? (host) => host
        : withSuffix;
    this.#call = call;
    this.#limits = shadowLimitsOf(context);
  }

  /**
   * Sends a copy of a share of requests, once its body is complete. Never throws, and never delays the request: a copy above the limits is
   * dropped and counted. Call it before the body of the request is read.
   */
  copy(request: ShadowedRequest): void {
    if (!isChosen(this.#share) || !this.#limits.acquire()) return;
    const { req, method, path, timeoutMs } = request;
    const headers = [...request.headers];
    const host = findHeader(headers, 'host');
    if (host !== undefined) setHeader(headers, 'host', this.#hostOf(host));
    const line = { method, path, headers, timeoutMs: timeoutMs > 0 ? timeoutMs : DEFAULT_TIMEOUT_MS };
    if (request.body !== undefined) return this.#send({ ...line, body: request.body }, 0);
    const body = new ShadowBody(req, this.#limits, (complete) => {
      if (complete) this.#send({ ...line, body: complete }, complete.length);
      else this.#limits.drop();
    });
    body.read();
  }

  /** Aborts the copies in progress. */
  close(): void {
    for (const controller of this.#sent) controller.abort(new Error('the route was removed'));
  }

  #send(
    { body, ...line }: Pick<ShadowedRequest, 'method' | 'path' | 'headers' | 'timeoutMs'> & { body: Buffer },
    held: number,
  ): void {
    const controller = new AbortController();
    this.#sent.add(controller);
    let received = 0;
    const onData = (chunk: Buffer): void => {
      received += chunk.length;
      if (received > MAX_RESPONSE_BYTES) controller.abort(new Error('the response is too large'));
    };
    const done = (isSent: boolean): void => {
      this.#sent.delete(controller);
      this.#limits.release(isSent, held);
    };
    // An empty buffer would be sent with its length, as a request without a body is not.
    const content = body.length > 0 && { body };
    this.#call(this.#upstream, { ...line, ...content, maxBodyBytes: 0, onData, signal: controller.signal }).then(
      () => done(true),
      () => done(false),
    );
  }
}

/** Compiles `shadowing`; `undefined` if no request is copied. Throws `ERR_ROUTING_OPTION` for an invalid host. */
export function compileShadowing(block: Shadowing | undefined, context: Context): Shadow | undefined {
  const { callUpstream } = context;
  if (!block?.upstream?.name || !block.percentage || !callUpstream) return undefined;
  return new Shadow(block, callUpstream, context);
}

/** `a.example:8080` becomes `a.example-shadow:8080`; addresses in brackets have no suffix. */
function withSuffix(host: string): string {
  if (host.startsWith('[')) return host;
  const colon = host.indexOf(':');
  return colon < 0 ? `${host}-shadow` : `${host.slice(0, colon)}-shadow${host.slice(colon)}`;
}
