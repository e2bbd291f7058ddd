import { formatIssue, printable, type ControlPlaneState, type Problem } from '@edge-gateway/core';
import type { Io } from '../io.ts';
import { shownOrigin } from '../resources/load.ts';
import type { Colors } from './terminal.ts';

/** Returns problems with file paths relative to the directory of the caller. */
export function shownProblems(io: Io, problems: readonly Problem[]): Problem[] {
  return problems.map((problem) => ({ ...problem, origin: shownOrigin(io, problem.origin) }));
}

/** Returns a note about ports that Gateway resources close; `undefined` without any. */
export function replacedPortsNote(ports: readonly number[], { isRunning = false } = {}): string | undefined {
  if (ports.length === 0) return undefined;
  const named = `${ports.length === 1 ? 'port' : 'ports'} ${ports.join(' and ')}`;
  const verb = isRunning ? (ports.length === 1 ? 'is' : 'are') : 'will';
  return `Note: Gateway resources replace the default gateways, so ${named} ${verb} not ${isRunning ? 'open' : 'be open'}`;
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
  const { errors, warnings } = countsOf(problems);
  return `${count(errors, 'error')}, ${count(warnings, 'warning')}`;
}

/** Returns how many errors and warnings there are. */
export function countsOf(problems: readonly Problem[]): { readonly errors: number; readonly warnings: number } {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return { errors, warnings: problems.length - errors };
}

/** A number with its noun, e.g. `2 errors`. */
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** A problem as one line. */
export const problemLine = (issue: Problem): string => formatIssue(issue).replaceAll(/\s*\n\s*/g, ' ');

/** Returns every problem of a loaded directory, sorted by file and line. A reference to a missing resource is an error. */
export function validationOf({ issues }: Pick<ControlPlaneState, 'issues'>, { allowMissing = false } = {}): Problem[] {
  const severity = allowMissing ? 'warning' : 'error';
  return issues.map((issue) => (issue.code === 'MISSING_REFERENCE' ? { ...issue, severity } : issue));
}
