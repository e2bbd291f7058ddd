import type { FieldPath, Issue } from '../../resource/issue.ts';
import type { ResourceKey } from '../../resource/resource.ts';

/** A problem between resources. The holder of the report knows the resource. */
export interface Problem extends ProblemClass {
  readonly severity: Issue['severity'];
  /** The text for the status. */
  readonly message: string;
  /** The field with the problem, if any. */
  readonly path?: FieldPath;
  /** True for a problem of another resource, which the status repeats. */
  readonly repeated?: true;
}

/** What kind of problem it is. */
export interface ProblemClass {
  /** Default: `STATUS`. */
  readonly code?: 'MISSING_REFERENCE';
  /** Equal for all problems that one mistake causes. */
  readonly cause?: string;
}

/** A problem that translation found, and the resource that has it. */
export interface LocatedProblem {
  readonly key: ResourceKey;
  readonly problem: Problem;
}

/** Problems of one resource, in the order they were found. */
export type Problems = readonly Problem[];

/** No problems. */
export const NO_PROBLEMS: Problems = Object.freeze([]);

/** Collects the problems of one resource. */
export class Report {
  readonly #found = new Map<string, Problem>();
  #hasErrors = false;

  get hasErrors(): boolean {
    return this.#hasErrors;
  }

  /** `path` is the field that has the problem, where there is one. */
  error(message: string, path?: FieldPath, about?: ProblemClass): void {
    this.#add({ severity: 'error', message, ...(path && { path }), ...classOf(about) });
  }

  warn(message: string, path?: FieldPath, about?: ProblemClass): void {
    this.#add({ severity: 'warning', message, ...(path && { path }), ...classOf(about) });
  }

  add(problems: Problems): void {
    for (const problem of problems) this.#add(problem);
  }

  /** Adds problems of other resources, with `prefix`. */
  repeat(problems: Problems, prefix = ''): void {
    for (const { severity, message } of problems) {
      this.#add({ severity, message: prefix + message, repeated: true });
    }
  }

  /** What was found so far. */
  problems(): Problems {
    return this.#found.size === 0 ? NO_PROBLEMS : Object.freeze([...this.#found.values()]);
  }

  #add(problem: Problem): void {
    const { severity, message, path = [] } = problem;
    const key = `${severity} ${message} ${JSON.stringify(path)}`;
    if (this.#found.has(key)) return;
    this.#hasErrors ||= severity === 'error';
    this.#found.set(key, Object.freeze(problem));
  }
}

function classOf({ code, cause }: ProblemClass = {}): ProblemClass {
  return { ...(code !== undefined && { code }), ...(cause !== undefined && { cause }) };
}

export function hasErrors(problems: Problems): boolean {
  return problems.some(({ severity }) => severity === 'error');
}
