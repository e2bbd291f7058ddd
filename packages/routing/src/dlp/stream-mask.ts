import { applyMask, type Mask } from './mask.ts';

/** Bytes that arrive before the next search, so that many small chunks do not search the same text again. */
const MIN_STEP = 256;
/** The blank line after an event, with each of the three line breaks (HTML 9.2.5). */
const EVENT_ENDS = ['\n\n', '\r\n\r\n', '\r\r'];

/** Longest event that is held back, as a multiple of the longest value. */
const EVENT_WINDOWS = 16;

/** How a body is masked. */
export interface StreamMaskOptions {
  /** Called for each value that was found. */
  readonly onFound: () => void;
  /** True for an event stream: each event is written when it is complete. */
  readonly events?: boolean;
}

/**
 * Masks a body as it arrives. The last bytes are kept back, as many as the longest value has, so that values on the border of two
 * chunks are found.
 *
 * @example
 * const body = new StreamMask(masks, { onFound: () => found.value++ });
 * response.write(body.push(chunk));
 * response.end(body.end());
 */
export class StreamMask {
  readonly #masks: readonly Mask[];
  readonly #options: StreamMaskOptions;
  /** Bytes that are kept for values on a border. */
  readonly #window: number;
  /** The end of the body so far: a part that was written, then one that was not. */
  #text = '';
  #written = 0;

  constructor(masks: readonly Mask[], options: StreamMaskOptions) {
    this.#masks = masks;
    this.#options = options;
    this.#window = Math.max(0, ...masks.map(({ maxBytes }) => maxBytes));
  }

  /** Returns what can be written of the body so far. */
  push(chunk: Buffer): Buffer {
    this.#text += chunk.toString('latin1');
    const event = this.#options.events ? this.#lastEvent() : 0;
    if (event > this.#written) return this.#write(event);
    // An event that is too long is written as other bodies are.
    const until = this.#text.length - (this.#options.events ? EVENT_WINDOWS : 1) * this.#window;
    return until < this.#written + MIN_STEP ? NOTHING : this.#write(until);
  }

  /** Returns the rest of the body. */
  end(): Buffer {
    return this.#write(this.#text.length);
  }

  /** Returns the end of the last complete event; 0 if there is none. */
  #lastEvent(): number {
    return Math.max(
      ...EVENT_ENDS.map((ending) => {
        const at = this.#text.lastIndexOf(ending);
        return at < 0 ? 0 : at + ending.length;
      }),
    );
  }

  #write(until: number): Buffer {
    const from = this.#written;
    if (until <= from) return NOTHING;
    let masked = this.#text;
    // A value counts in the call that writes its first byte.
    const count = ({ start }: { readonly start: number }): void => {
      if (start >= from && start < until) this.#options.onFound();
    };
    for (const mask of this.#masks) masked = applyMask(masked, mask, count);
    const dropped = Math.max(until - this.#window, 0);
    this.#text = this.#text.slice(dropped);
    this.#written = until - dropped;
    return Buffer.from(masked.slice(from, until), 'latin1');
  }
}

const NOTHING = Buffer.alloc(0);
