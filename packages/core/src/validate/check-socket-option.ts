import { socketOptionProblem, type SocketOption } from '../syntax/socket-options.ts';
import { reporterOf, type Check } from './check.ts';

const invalid = reporterOf('INVALID_GATEWAY');

/** An option that Node cannot set is a warning, an impossible value an error. */
export const checkSocketOption: Check<SocketOption> = (option, at) => {
  const problem = socketOptionProblem(option);
  if (!problem) return [];
  const { message, hint } = problem;
  return problem.kind === 'invalid'
    ? invalid(message, [...at, 'intValue'], { hint })
    : invalid(message, at, { hint, severity: 'warning' });
};
