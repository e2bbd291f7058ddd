import { printable } from '@edge-gateway/core';
import type { Problem } from '@edge-gateway/core';
import type { Io } from '../io.ts';
import { shownOrigin } from '../resources/load.ts';
import type { Colors } from './terminal.ts';
import { problemLine } from '../resources/validation.ts';

/** Returns problems with file paths relative to the directory of the caller. */
export function shownProblems(io: Io, problems: readonly Problem[]): Problem[] {
  return problems.map((problem) => ({ ...problem, origin: shownOrigin(io, problem.origin) }));
}

/** A line per problem. */
export function problemLines(problems: readonly Problem[], colors: Colors): string[] {
  return problems.map((problem) => {
    const line = printable(problemLine(problem));
    return problem.severity === 'error' ? colors.red(line) : colors.yellow(`${line}  [warning]`);
  });
}

/** How many errors and warnings there are, e.g. `1 error, 0 warnings`. */
export function countLine(problems: readonly Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return `${count(errors, 'error')}, ${count(problems.length - errors, 'warning')}`;
}

/** A number with its noun, e.g. `2 errors`. */
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;
