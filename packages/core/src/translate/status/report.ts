import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { ResourceKey } from '../../resource/resource.ts';

/** A problem that translation found. The holder of the report knows the resource. */
export interface FoundProblem extends FieldProblem {
  readonly severity: NonNullable<FieldProblem['severity']>;
  /** True for a problem of another resource, which the status repeats. */
  readonly repeated?: true;
}

/** The class of a problem: its code, by default `STATUS`, its cause, and its effect. */
export type ProblemClass = Partial<Pick<FieldProblem, 'code' | 'cause' | 'effect'>>;

/** A problem of translation, and its resource. */
export interface LocatedProblem {
  readonly key: ResourceKey;
  readonly problem: FoundProblem;
}

/** Problems of one resource, in order. */
export type Problems = readonly FoundProblem[];

/** No problems. */
export const NO_PROBLEMS: Problems = Object.freeze([]);

/** Collects the problems of one resource. */
export class Report {
  readonly #found = new Map<string, FoundProblem>();
  #hasErrors = false;

  get hasErrors(): boolean {
    return this.#hasErrors;
  }

  /** `path` is the field with the problem, if any. */
  error(message: string, path?: FieldPath, about?: ProblemClass): void {
    this.#add(statusProblem('error', message, path, about));
  }

  warn(message: string, path?: FieldPath, about?: ProblemClass): void {
    this.#add(statusProblem('warning', message, path, about));
  }

  add(problems: Problems): void {
    for (const problem of problems) this.#add(problem);
  }

  /** Adds problems of other resources, with `prefix`. */
  repeat(problems: Problems, prefix = ''): void {
    for (const { severity, message } of problems) {
      this.#add({ ...statusProblem(severity, prefix + message), repeated: true });
    }
  }

  /** Returns the problems so far. */
  problems(): Problems {
    return this.#found.size === 0 ? NO_PROBLEMS : Object.freeze([...this.#found.values()]);
  }

  #add(problem: FoundProblem): void {
    const { severity, message, path } = problem;
    const key = `${severity} ${message} ${JSON.stringify(path)}`;
    if (this.#found.has(key)) return;
    this.#hasErrors ||= severity === 'error';
    this.#found.set(key, Object.freeze(problem));
  }
}

/** Returns a problem in the words of the status. */
export function statusProblem(
  severity: FoundProblem['severity'],
  message: string,
  path: FieldPath = [],
  { code = 'STATUS', cause, effect }: ProblemClass = {},
): FoundProblem {
  const about = { ...(cause !== undefined && { cause }), ...(effect && { effect }) };
  return { code, severity, path, message, ...about };
}

export function hasErrors(problems: Problems): boolean {
  return problems.some(({ severity }) => severity === 'error');
}
