/** Checks that are started before other events of the process are handled. */
const STARTS_PER_TURN = 16;

/** Starts checks in small groups, so that thousands which are due at the same time do not delay requests. */
export class CheckStarts {
  #waiting: (() => void)[] = [];
  #scheduled = false;

  add(start: () => void): void {
    this.#waiting.push(start);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#scheduled = false;
    const due = this.#waiting.splice(0, STARTS_PER_TURN);
    if (this.#waiting.length > 0) this.#schedule();
    for (const start of due) start();
  };
}
