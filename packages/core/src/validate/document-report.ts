import { boundedProblem, MAX_PROBLEMS, type FieldPath, type FieldProblem, type Problem } from '../resource/problem.ts';
import type { SchemaCode } from '../resource/problem-codes.ts';
import type { WrittenResource } from '../source/source.ts';

/** A problem of a written field. */
export interface WrittenProblem extends Pick<FieldProblem, 'path' | 'message' | 'severity'> {
  readonly code: SchemaCode;
  readonly hint?: string | undefined;
  /** Uses the position of the value instead of the key. */
  readonly on?: 'value';
}

/** Errors that do not affect the types of values. */
const SHAPE_KEEPING: ReadonlySet<string> = new Set([
  'BAD_REGEX',
  'BAD_SUBSTITUTION',
  'CONFLICTING_FIELDS',
  'MISPLACED_KEY',
  'ONEOF_CONFLICT',
  'ONEOF_MISSING',
  'OUT_OF_RANGE',
  'SECURITY_FIELD_NOT_SUPPORTED',
  'UNKNOWN_KEY',
] satisfies SchemaCode[]);

/** Collects the problems of one document with their positions. */
export class DocumentReport {
  readonly #issues: Problem[];
  readonly #counts = { error: 0, warning: 0 };
  /** The resource with the problems, as far as known. */
  subject: Pick<Problem, 'kind' | 'namespace' | 'name'> = {};
  failed: boolean;
  readonly #written: WrittenResource;

  constructor(written: WrittenResource) {
    this.#written = written;
    this.#issues = [...written.issues];
    this.failed = written.issues.some((issue) => issue.severity === 'error');
  }

  /** In document order. */
  get issues(): readonly Problem[] {
    return this.#issues
      .map(boundedProblem)
      .toSorted((a, b) => a.origin.line - b.origin.line || a.origin.column - b.origin.column);
  }

  /** True if all values have the types of their fields, so that semantic checks can run. */
  get keepsShape(): boolean {
    return !this.full && !this.#issues.some(({ code, severity }) => severity === 'error' && !SHAPE_KEEPING.has(code));
  }

  /** Returns true if an error was reported for the path, a parent or a child: each mistake is reported once. */
  hasErrorAt(path: FieldPath): boolean {
    return this.#issues.some(
      (issue) =>
        issue.severity === 'error' && path.every((step, i) => i >= issue.path.length || step === issue.path[i]),
    );
  }

  /** True if no more errors are accepted. */
  get full(): boolean {
    return this.#counts.error >= MAX_PROBLEMS;
  }

  /** Adds issues that already have a position. */
  include(issues: readonly Problem[]): void {
    this.failed ||= issues.some(({ severity }) => severity === 'error');
    this.#issues.push(...issues);
  }

  add({ code, path, message, hint, on, severity = 'error' }: WrittenProblem): void {
    if (severity === 'error') this.failed = true;
    if (this.#counts[severity]++ >= MAX_PROBLEMS) return;
    const origin = this.#written.locate(path, on);
    this.#issues.push({ code, severity, origin, ...this.subject, path, message, ...(hint !== undefined && { hint }) });
  }
}
