import { routingError } from '../error-codes.ts';

const COMMA = 44;
const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const SPACES: ReadonlySet<number> = new Set([9, 10, 13, 32]);

/**
 * Returns the texts of the elements of a JSON array, each as soon as it is complete; none for an empty body. Elements are not parsed. Throws
 * `ERR_ROUTING_GRPC_JSON` for a body that is no array, and `ERR_ROUTING_BODY_TOO_LARGE` for an element with more than `maxBytes`.
 */
export async function* elementsOf(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  const scanner = new ArrayScanner(maxBytes);
  for await (const chunk of chunks) yield* scanner.scan(chunk);
  scanner.end();
}

type State = 'start' | 'elements' | 'end';

class ArrayScanner {
  readonly #maxBytes: number;
  #state: State = 'start';
  /** Nesting in the element. */
  #depth = 0;
  #inText = false;
  #isEscaped = false;
  /** The parts of the element so far. */
  #parts: Buffer[] = [];
  #size = 0;
  #hasElements = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  *scan(chunk: Buffer): Generator<Buffer> {
    let from = 0;
    for (let i = 0; i < chunk.length; i++) {
      const code = chunk[i]!;
      if (this.#state !== 'elements') {
        this.#outside(code);
        from = i + 1;
      } else if (this.#isSeparator(code)) {
        this.#add(chunk.subarray(from, i));
        from = i + 1;
        const element = this.#take(code);
        if (element) yield element;
      }
    }
    if (this.#state === 'elements') this.#add(chunk.subarray(from));
  }

  end(): void {
    if (this.#state === 'elements') throw invalid('the array is not closed');
  }

  #outside(code: number): void {
    if (SPACES.has(code)) return;
    if (this.#state === 'end' || code !== OPEN_ARRAY) throw invalid('the body must be a JSON array of messages');
    this.#state = 'elements';
  }

  /** Returns true for a comma or a bracket of the array itself. */
  #isSeparator(code: number): boolean {
    if (this.#inText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === BACKSLASH) this.#isEscaped = true;
      else if (code === QUOTE) this.#inText = false;
      return false;
    }
    if (code === QUOTE) this.#inText = true;
    else if (code === 123 || code === OPEN_ARRAY) this.#depth++;
    else if (this.#depth === 0) return code === COMMA || code === CLOSE_ARRAY;
    else if (code === 125 || code === CLOSE_ARRAY) this.#depth--;
    return false;
  }

  #add(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > this.#maxBytes) throw routingError('ERR_ROUTING_BODY_TOO_LARGE');
    if (part.length > 0) this.#parts.push(part);
  }

  /** Returns the element before a separator; `undefined` for an empty array. */
  #take(separator: number): Buffer | undefined {
    const element = Buffer.concat(this.#parts, this.#size);
    this.#parts = [];
    this.#size = 0;
    if (separator === CLOSE_ARRAY) this.#state = 'end';
    const isBlank = element.every((code) => SPACES.has(code));
    if (isBlank && (separator === COMMA || this.#hasElements)) throw invalid('an element of the array is empty');
    this.#hasElements = true;
    return isBlank ? undefined : element;
  }
}

const invalid = (reason: string) => routingError('ERR_ROUTING_GRPC_JSON', `invalid request: ${reason}`);
