import type { IncomingMessage } from 'node:http';
import { hasBody } from '../../http1/request-body.ts';
import type { ShadowLimits } from './shadow-limits.ts';

/** Maximum size of a copied body, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;
const NO_BODY = Buffer.alloc(0);

export type BodySource = IncomingMessage;

/** Collects the body of a request while it is sent to its own upstream. */
export class ShadowBody {
  readonly #req: BodySource;
  readonly #limits: ShadowLimits;
  readonly #onEnd: (body: Buffer | undefined) => void;
  #chunks: Buffer[] = [];
  #held = 0;

  /** `onEnd` receives the body, or `undefined` if it is incomplete or too large. */
  constructor(req: BodySource, limits: ShadowLimits, onEnd: (body: Buffer | undefined) => void) {
    this.#req = req;
    this.#limits = limits;
    this.#onEnd = onEnd;
  }

  read(): void {
    const req = this.#req;
    if (!hasBody(req)) return this.#onEnd(NO_BODY);
    if (Number(req.headers['content-length'] ?? 0) > MAX_BODY_BYTES || req.destroyed || req.readableEnded)
      return this.#onEnd(undefined);
    // Unlike `on`, this does not start the flow of data: the forwarder does.
    req.prependListener('data', this.#data);
    req.once('end', this.#end).once('close', this.#abort);
    // A request of `node:http` whose response is complete does not close with its connection.
    if (req.httpVersionMajor === 1) req.socket.once('close', this.#abort);
  }

  readonly #data = (data: Buffer | string): void => {
    const chunk = typeof data === 'string' ? Buffer.from(data, this.#req.readableEncoding!) : data;
    if (this.#held + chunk.length > MAX_BODY_BYTES || !this.#limits.hold(chunk.length)) return this.#abort();
    this.#held += chunk.length;
    this.#chunks.push(chunk);
  };

  readonly #end = (): void => {
    this.#stop();
    this.#onEnd(Buffer.concat(this.#chunks));
  };

  readonly #abort = (): void => {
    this.#stop();
    this.#limits.unhold(this.#held);
    this.#chunks = [];
    this.#onEnd(undefined);
  };

  #stop(): void {
    const req = this.#req;
    req.off('data', this.#data).off('end', this.#end).off('close', this.#abort);
    if (req.httpVersionMajor === 1) req.socket.off('close', this.#abort);
  }
}
