import { nodeVersionProblem } from './version-problem.ts';

// The first import of every entry: everything else could fail on older versions with an error that names no reason.
const problem = nodeVersionProblem('edge-gateway');
if (problem !== undefined) {
  const error = new Error(problem);
  // Node.js prints it: no trace of internals behind the sentence.
  error.stack = `Error: ${problem}`;
  throw error;
}
