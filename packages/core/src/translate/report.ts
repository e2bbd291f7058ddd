import { isDeepStrictEqual } from 'node:util';
import type { FieldPath } from '../parse/issue.ts';

/** Problems of one resource, in the order they were found; each text once. */
export interface Problems {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** By text, the fields that have the problem; absent for what belongs to no field. */
  readonly fields?: ReadonlyMap<string, readonly FieldPath[]>;
}

/** No problems. */
export const NO_PROBLEMS: Problems = Object.freeze({ errors: Object.freeze([]), warnings: Object.freeze([]) });

/** Collects the problems of one resource. */
export class Report {
  readonly #errors = new Set<string>();
  readonly #warnings = new Set<string>();
  readonly #fields = new Map<string, FieldPath[]>();

  /** `at` is the field that has the problem, where there is one. */
  error(message: string, at?: FieldPath): void {
    this.#errors.add(message);
    this.#locate(message, at);
  }

  warn(message: string, at?: FieldPath): void {
    this.#warnings.add(message);
    this.#locate(message, at);
  }

  /** Takes in other problems, each behind `prefix`. With one they are those of another resource, and lose their fields. */
  add(other: Problems, prefix = ''): void {
    for (const message of other.errors) this.#errors.add(prefix + message);
    for (const message of other.warnings) this.#warnings.add(prefix + message);
    if (prefix !== '') return;
    for (const [message, paths] of other.fields ?? []) for (const path of paths) this.#locate(message, path);
  }

  /** What was found so far. */
  problems(): Problems {
    if (this.#errors.size === 0 && this.#warnings.size === 0) return NO_PROBLEMS;
    return Object.freeze({
      errors: Object.freeze([...this.#errors]),
      warnings: Object.freeze([...this.#warnings]),
      ...(this.#fields.size > 0 && { fields: new Map(this.#fields) }),
    });
  }

  #locate(message: string, at: FieldPath | undefined): void {
    if (!at) return;
    const known = this.#fields.get(message);
    if (known?.some((path) => isDeepStrictEqual(path, at))) return;
    if (known) known.push(at);
    else this.#fields.set(message, [at]);
  }
}

/** Every error as a warning: for what costs less than the resource that has it. */
export function asWarnings(problems: Problems): Problems {
  return problems.errors.length === 0
    ? problems
    : Object.freeze({
        ...problems,
        errors: NO_PROBLEMS.errors,
        warnings: Object.freeze([...problems.errors, ...problems.warnings]),
      });
}
