import { GraphQLError } from 'graphql';
import { ERROR_CODES } from '../error-codes.ts';
import { FieldFailure, inputMessage, shownFailure } from '../errors/field-failure.ts';
import type { ResultError } from './executable-api.ts';
import type { FieldPlan, Path, Run } from './field-plan.ts';

/** An error with its path, which propagates to the nearest nullable field. */
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

/** Maximum number of errors in one result, and of its failures in the log. */
const MAX_ERRORS = 100;

/** Adds the error of a field to the result. */
export function note({ errors, options }: Run, { error, path, field }: Located): void {
  if (errors.length >= MAX_ERRORS) return;
  const place = pathOf(path);
  options.onFailure?.(error instanceof Error ? error.message : String(error), place);
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

/** Returns the only error of an execution that was stopped. */
export function stoppedBy(error: FieldFailure, { options }: Run): ResultError {
  options.onFailure?.(error.message, []);
  return { message: shownMessage(error), extensions: { ...shownExtensions(error), requestId: options.requestId } };
}

/** Returns the message for clients: that of a `GraphQLError`, because others may reveal internals. */
export function shownMessage(error: unknown): string {
  if (error instanceof GraphQLError) return inputMessage(error);
  const failure = error instanceof FieldFailure ? error : undefined;
  return failure?.shown ?? ERROR_CODES[failure?.code ?? 'ERR_GRAPHQL_RESOLVER'].message;
}

/** Returns the extensions for clients, with a code. */
export function shownExtensions(error: unknown): Readonly<Record<string, unknown>> {
  const code = error instanceof FieldFailure ? error.code : 'ERR_GRAPHQL_RESOLVER';
  return { code, ...(error instanceof GraphQLError && error.extensions) };
}

/** Creates the failure of a non-null field without a value. */
export function nonNullViolation(type: string, field: string): FieldFailure {
  return shownFailure(`Cannot return null for non-nullable field ${type}.${field}.`);
}

function pathOf(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: Path | undefined = path; at; at = at.prev) keys.push(at.key);
  return keys.toReversed();
}

/** Returns the path of the value of a field. */
export function pathTo({ key, parentType }: FieldPlan, before: Path | undefined): Path {
  return { prev: before, key, typename: parentType.name };
}
