/** Streams that this side has reset, and of which the client may still send frames. */
const MAX_RESET = 1_000;
/** Ranges of numbers that the client has left out. */
const MAX_GAPS = 16;

/** The numbers of the streams that a client has opened. Only a bounded part of them is remembered. */
export class OpenedStreams {
  lastId = 0;
  readonly #reset = new Set<number>();
  /** Streams up to this one may have been reset. */
  #forgottenId = 0;
  readonly #gaps: (readonly [first: number, last: number])[] = [];

  /** True if a client may open a stream with this number. */
  isNew(id: number): boolean {
    return id % 2 === 1 && id > this.lastId;
  }

  open(id: number): void {
    const next = this.lastId === 0 ? 1 : this.lastId + 2;
    if (id > next && this.#gaps.length < MAX_GAPS) this.#gaps.push([this.lastId, id]);
    this.lastId = id;
  }

  /** True if a stream was never opened. */
  isIdle(id: number): boolean {
    return id % 2 === 0 || id > this.lastId || this.#gaps.some(([first, last]) => id > first && id < last);
  }

  /** This side has reset a stream. */
  reset(id: number): void {
    this.#reset.add(id);
    if (this.#reset.size <= MAX_RESET) return;
    const [oldest = 0] = this.#reset;
    this.#reset.delete(oldest);
    this.#forgottenId = Math.max(this.#forgottenId, oldest);
  }

  /** True if frames of a stream that is closed may still arrive, because this side has reset it. */
  wasReset(id: number): boolean {
    return this.#reset.has(id) || id <= this.#forgottenId;
  }
}
