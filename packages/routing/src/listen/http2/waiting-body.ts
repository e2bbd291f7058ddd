/** Parts that are joined: many short ones would take far more memory than their bytes. */
const MAX_PARTS = 1_000;

/** The parts of a body that wait for their reader. */
export class WaitingBody {
  bytes = 0;
  #blocks: Buffer[] = [];
  #parts: Buffer[] = [];

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.#parts.push(chunk) < MAX_PARTS) return;
    this.#blocks.push(Buffer.concat(this.#parts));
    this.#parts = [];
  }

  /** Returns all parts as one. */
  join(): Buffer {
    return Buffer.concat([...this.#blocks, ...this.#parts]);
  }
}
