import { isPooledView } from '../../http1/spare-buffers.ts';

/** Parts that are joined: many short ones would take far more memory than their bytes. */
const MAX_PARTS = 1_000;

/** The parts of a body that wait for their reader. */
export class WaitingBody {
  bytes = 0;
  readonly #blocks: Buffer[] = [];
  #parts: Buffer[] = [];

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    // The buffer of a large part can be reused after it is sent.
    if (isPooledView(chunk)) {
      this.#join();
      this.#blocks.push(chunk);
    } else if (this.#parts.push(chunk) >= MAX_PARTS) this.#join();
  }

  /** Removes and returns the data that has waited longest. */
  shift(): Buffer | undefined {
    if (this.#blocks.length === 0) this.#join();
    const block = this.#blocks.shift();
    if (block) this.bytes -= block.length;
    return block;
  }

  #join(): void {
    const parts = this.#parts;
    if (parts.length === 0) return;
    this.#parts = [];
    this.#blocks.push(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
  }
}
