/** Collects the first bytes of a body; the rest is ignored. */
export class BodyStart {
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Buffer): void {
    if (this.#length >= this.#maxBytes) return;
    this.#length += chunk.length;
    this.#chunks.push(chunk);
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks).subarray(0, this.#maxBytes);
  }
}
