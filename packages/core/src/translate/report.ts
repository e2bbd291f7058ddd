/** Problems of one resource, in the order they were found; each text once. */
export interface Problems {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** No problems. */
export const NO_PROBLEMS: Problems = Object.freeze({ errors: Object.freeze([]), warnings: Object.freeze([]) });

/** Collects the problems of one resource. */
export class Report {
  readonly #errors = new Set<string>();
  readonly #warnings = new Set<string>();

  error(message: string): void {
    this.#errors.add(message);
  }

  warn(message: string): void {
    this.#warnings.add(message);
  }

  /** Takes in other problems, each behind `prefix`. */
  add(other: Problems, prefix = ''): void {
    for (const message of other.errors) this.#errors.add(prefix + message);
    for (const message of other.warnings) this.#warnings.add(prefix + message);
  }

  /** What was found so far. */
  problems(): Problems {
    if (this.#errors.size === 0 && this.#warnings.size === 0) return NO_PROBLEMS;
    return Object.freeze({ errors: Object.freeze([...this.#errors]), warnings: Object.freeze([...this.#warnings]) });
  }
}

/** Every error as a warning: for what costs less than the resource that has it. */
export function asWarnings(problems: Problems): Problems {
  return problems.errors.length === 0
    ? problems
    : Object.freeze({
        errors: NO_PROBLEMS.errors,
        warnings: Object.freeze([...problems.errors, ...problems.warnings]),
      });
}
