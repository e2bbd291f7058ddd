import type { Context } from '@opentelemetry/api';
import type { VariableValues } from 'graphql';
import type { OperationRequest, ResultError } from '../api.ts';
import { ERROR_CODES } from '../error-codes.ts';
import { FieldFailure, shownFailure } from '../field-failure.ts';
import type { Calls } from '../resolvers/calls.ts';
import type { FieldPlan } from './plan.ts';

/** A place in a result, from the inside out. */
export interface Path {
  readonly before: Path | undefined;
  readonly key: string | number;
}

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

/** One operation under way. */
export interface Run {
  readonly request: OperationRequest;
  readonly variables: VariableValues | undefined;
  readonly calls: Calls;
  /** What its calls are part of, in traces; `undefined` where nobody traces. */
  readonly trace: Context | undefined;
  readonly errors: ResultError[];
  /** Told of each failure, with what clients are not told. */
  readonly onFailure: (reason: string, path: readonly (string | number)[]) => void;
}

/** Errors told of one operation; more are counted in the last one. */
const MAX_ERRORS = 100;

/** Notes an error of a field in the result. */
export function note(run: Run, { error, path, field }: Located): void {
  const place = pathOf(path);
  const failure = error instanceof FieldFailure ? error : undefined;
  run.onFailure(error instanceof Error ? error.message : String(error), place);
  if (run.errors.length >= MAX_ERRORS) return;
  const code = failure?.code ?? 'ERR_GRAPHQL_RESOLVER';
  const location = field.node.loc?.startToken;
  run.errors.push({
    message: failure?.shown ?? ERROR_CODES[code].message,
    ...(location && { locations: [{ line: location.line, column: location.column }] }),
    path: place,
    extensions: { code, requestId: run.request.facts.requestId },
  });
}

/** The failure of a field that must have a value and has none. */
export function nothing({ parentType, name }: FieldPlan): Error {
  return shownFailure(`Cannot return null for non-nullable field ${parentType.name}.${name}.`);
}

function pathOf(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: Path | undefined = path; at; at = at.before) keys.push(at.key);
  return keys.toReversed();
}
