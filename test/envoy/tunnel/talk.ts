/** What a client does in a tunnel. */
export interface Talk {
  /** Sent one after the other, each when the reply to the one before has arrived. */
  readonly says: readonly string[];
  /** How the client leaves behind the last reply. Default: it waits for the end of the tunnel. */
  readonly leaves?: 'ends' | 'resets';
}

/** What one side of a tunnel observes. */
export interface Heard {
  readonly text: string;
  /** How the other side ended it. */
  readonly end: string;
}

/** One side of a tunnel. */
export interface TunnelSide {
  send(text: string): void;
  end(): void;
  reset(): void;
}

/** The client in a tunnel. */
export class Talker implements Heard {
  readonly #talk: Talk;
  readonly #side: TunnelSide;
  readonly #onOver: () => void;
  #said = 0;
  #hasEnded = false;
  text = '';
  end = '';

  /** `onOver` is called when nothing more is expected. */
  constructor(talk: Talk, side: TunnelSide, onOver: () => void) {
    this.#talk = talk;
    this.#side = side;
    this.#onOver = onOver;
    this.#next();
  }

  receive(text: string): void {
    this.text += text;
    if (this.text.endsWith('!')) this.#next();
  }

  /** The other side ended the tunnel: the first call counts. */
  ended(how: string): void {
    if (this.end !== '') return;
    this.end = how;
    if (how === 'end' && !this.#hasEnded) this.#side.end();
    this.#onOver();
  }

  #next(): void {
    const { says, leaves } = this.#talk;
    const next = says[this.#said++];
    if (next !== undefined) return this.#side.send(next);
    if (this.#said > says.length + 1) return;
    this.#hasEnded = leaves !== undefined;
    if (leaves === 'ends') this.#side.end();
    if (leaves !== 'resets') return;
    this.#side.reset();
    this.#onOver();
  }
}

/** The upstream in a tunnel: it replies to what ends in a question mark, and leaves when it is asked to. */
export class Replier implements Heard {
  readonly #side: TunnelSide;
  #replied = 0;
  text = '';
  end = '';

  constructor(side: TunnelSide) {
    this.#side = side;
  }

  receive(text: string): void {
    this.text += text;
    if (!this.text.endsWith('?')) return;
    const question = this.text.slice(this.#replied, -1);
    this.#replied = this.text.length;
    if (question === 'reset') return this.#side.reset();
    this.#side.send(`${question}!`);
    if (question === 'bye') this.#side.end();
  }

  /** The other side ended the tunnel: the first call counts. */
  ended(how: string): void {
    if (this.end !== '') return;
    this.end = how;
    if (how === 'end') this.#side.end();
  }
}
