import { GraphQLError } from 'graphql';
import { ERROR_CODES } from '../error-codes.ts';
import { FieldFailure, inputMessage, shownFailure } from '../errors/field-failure.ts';
import type { FieldPlan, Path, Run } from './field-plan.ts';

/** An error with its place, on its way to the next field that may be null. */
export class Located {
  readonly error: unknown;
  readonly path: Path;
  readonly field: FieldPlan;

  constructor(error: unknown, path: Path, field: FieldPlan) {
    this.error = error;
    this.path = path;
    this.field = field;
  }
}

/** Errors told of one operation; more are counted in the last one. */
const MAX_ERRORS = 100;

/** Notes an error of a field in the result. */
export function note({ errors, options }: Run, { error, path, field }: Located): void {
  const place = pathOf(path);
  options.onFailure?.(error instanceof Error ? error.message : String(error), place);
  if (errors.length >= MAX_ERRORS) return;
  const start = field.nodes[0]?.loc?.startToken;
  const at = { ...(start && { locations: [{ line: start.line, column: start.column }] }), path: place };
  errors.push(
    options.errorOf?.(error, at) ?? {
      ...at,
      message: shownMessage(error),
      extensions: { ...shownExtensions(error), requestId: options.requestId },
    },
  );
}

/** What clients may read of an error: the message of a `GraphQLError` is meant for them, others may reveal internals. */
export function shownMessage(error: unknown): string {
  if (error instanceof GraphQLError) return inputMessage(error);
  const failure = error instanceof FieldFailure ? error : undefined;
  return failure?.shown ?? ERROR_CODES[failure?.code ?? 'ERR_GRAPHQL_RESOLVER'].message;
}

/** The extensions of an error that clients may read, with a code. */
export function shownExtensions(error: unknown): Readonly<Record<string, unknown>> {
  const code = error instanceof FieldFailure ? error.code : 'ERR_GRAPHQL_RESOLVER';
  return { code, ...(error instanceof GraphQLError && error.extensions) };
}

/** The failure of a field that must have a value and has none. */
export function nonNullViolation(type: string, field: string): FieldFailure {
  return shownFailure(`Cannot return null for non-nullable field ${type}.${field}.`);
}

function pathOf(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: Path | undefined = path; at; at = at.prev) keys.push(at.key);
  return keys.toReversed();
}

/** The place of the value of a field, below that of its object. */
export function pathTo({ key, parentType }: FieldPlan, before: Path | undefined): Path {
  return { prev: before, key, typename: parentType.name };
}
