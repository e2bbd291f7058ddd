import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { ResourceKey } from '../../resource/resource.ts';
import type { StoredResource } from '../../resource/stored.ts';

/** A problem that translation found. The holder of the report knows the resource. */
export interface FoundProblem extends FieldProblem {
  readonly severity: NonNullable<FieldProblem['severity']>;
  /** True for a problem of another resource, which the status repeats. */
  readonly repeated?: true;
  /** Where it is written, if that is in another resource. */
  readonly source?: ProblemSource;
}

/** A field of another resource that causes a problem. */
export interface ProblemSource {
  readonly key: ResourceKey;
  readonly path: FieldPath;
}

/** A problem of a field, possibly caused by another resource. */
export type SourcedProblem = FieldProblem & Pick<FoundProblem, 'source'>;

/** A problem of translation, and its resource. */
export interface LocatedProblem {
  readonly key: ResourceKey;
  readonly problem: FoundProblem;
}

/** Added to the problems of a version that is still in use: they may no longer be in the text of the resource. */
export const IN_LAST_VERSION = 'in the last good version, which stays in use until the new one is valid';

/** Returns true if an earlier version of a resource is in use because the newest is rejected. */
export function servesLastVersion({ stale, partial }: StoredResource): boolean {
  return stale && !partial;
}

/** Problems of one resource, in order. */
export type Problems = readonly FoundProblem[];

/** No problems. */
export const NO_PROBLEMS: Problems = Object.freeze([]);

/** Collects the problems of one resource. */
export class Report {
  /** Created with the first problem: most resources have none. */
  #found: Map<string, FoundProblem> | undefined;
  #hasErrors = false;

  get hasErrors(): boolean {
    return this.#hasErrors;
  }

  /** `path` is the field with the problem; default: that of the problem. */
  error(problem: string | SourcedProblem, path?: FieldPath): void {
    this.#add(statusProblem('error', problem, path));
  }

  warn(problem: string | SourcedProblem, path?: FieldPath): void {
    this.#add(statusProblem('warning', problem, path));
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
    return this.#found ? Object.freeze([...this.#found.values()]) : NO_PROBLEMS;
  }

  #add(problem: FoundProblem): void {
    if (problem.unread) return;
    const { severity, message, path } = problem;
    const key = `${severity} ${message} ${JSON.stringify(path)}`;
    this.#found ??= new Map();
    if (this.#found.has(key)) return;
    this.#hasErrors ||= severity === 'error';
    this.#found.set(key, Object.freeze(problem));
  }
}

/** Returns a problem for the status, from its words or from another problem. */
export function statusProblem(
  severity: FoundProblem['severity'],
  problem: string | SourcedProblem,
  path?: FieldPath,
): FoundProblem {
  if (typeof problem === 'string') return { code: 'STATUS', severity, path: path ?? [], message: problem };
  const { code, message, cause, effect, source, unread } = problem;
  const about = {
    ...(cause !== undefined && { cause }),
    ...(effect && { effect }),
    ...(source && { source }),
    ...(unread && { unread }),
  };
  return { code, severity, path: path ?? problem.path, message, ...about };
}

export function hasErrors(problems: Problems): boolean {
  return problems.some(({ severity }) => severity === 'error');
}
