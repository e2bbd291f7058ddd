import type { FieldPath, FieldProblem, Problem } from '../resource/problem.ts';
import type { SchemaCode } from '../resource/problem-codes.ts';
import type { WrittenResource } from '../source/source.ts';

/** A problem of a written field. */
export interface WrittenProblem extends Pick<FieldProblem, 'path' | 'message' | 'severity'> {
  readonly code: SchemaCode;
  readonly hint?: string | undefined;
  /** Place of what is written behind the key instead of the key. */
  readonly on?: 'value';
}

/** Which resource the problems belong to, as far as it is known. */
export interface Subject {
  readonly kind?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** Errors, and warnings, of one document that are reported; a document with more is broken in one way, not in a thousand. */
const MOST_ISSUES = 1000;

/** Errors that leave every value of the type its field has. */
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

/** Gathers the problems of one document, each with its place. */
export class DocumentReport {
  readonly #issues: Problem[];
  readonly #counts = { error: 0, warning: 0 };
  subject: Subject = {};
  failed: boolean;
  readonly #written: WrittenResource;

  constructor(written: WrittenResource) {
    this.#written = written;
    this.#issues = [...written.issues];
    this.failed = written.issues.some((issue) => issue.severity === 'error');
  }

  /** In the order they are written. */
  get issues(): readonly Problem[] {
    if (this.#issues.length < 2) return this.#issues;
    return this.#issues.toSorted((a, b) => a.origin.line - b.origin.line || a.origin.column - b.origin.column);
  }

  /** Whatever is wrong, each value has the type of its field, so that its meaning can be judged. */
  get keepsShape(): boolean {
    return !this.full && !this.#issues.some(({ code, severity }) => severity === 'error' && !SHAPE_KEEPING.has(code));
  }

  /** An error is told of the place, of what it is in, or of what is in it: one mistake is told once. */
  hasErrorAt(path: FieldPath): boolean {
    return this.#issues.some(
      (issue) =>
        issue.severity === 'error' && path.every((step, i) => i >= issue.path.length || step === issue.path[i]),
    );
  }

  /** No more errors are taken in. */
  get full(): boolean {
    return this.#counts.error >= MOST_ISSUES;
  }

  /** Takes in issues that have their place already. */
  include(issues: readonly Problem[]): void {
    this.failed ||= issues.some(({ severity }) => severity === 'error');
    this.#issues.push(...issues);
  }

  add({ code, path, message, hint, on, severity = 'error' }: WrittenProblem): void {
    if (severity === 'error') this.failed = true;
    if (this.#counts[severity]++ >= MOST_ISSUES) return;
    const { kind, namespace, name } = this.subject;
    this.#issues.push({
      code,
      severity,
      origin: this.#written.locate(path, on),
      ...(kind !== undefined && { kind }),
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      path,
      message,
      ...(hint !== undefined && { hint }),
    });
  }
}
