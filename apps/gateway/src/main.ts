#!/usr/bin/env node
import { nodeVersionProblem } from '@edge-gateway/core/node-version';

// Older versions of Node.js cannot load the other modules of the program.
const problem = nodeVersionProblem('edge-gateway');
if (problem === undefined) {
  const { keepCompiledCode } = await import('@edge-gateway/core/compile-cache');
  const cache = keepCompiledCode(process.env);
  // For workers.
  if (cache !== undefined) process.env['NODE_COMPILE_CACHE'] = cache;
  const { limitYoungGeneration } = await import('./process/young-generation.ts');
  limitYoungGeneration([...process.execArgv, process.env['NODE_OPTIONS'] ?? '']);
  const { startProgram } = await import('./roles/start.ts');
  await startProgram();
} else {
  console.error(problem);
  process.exitCode = 1;
}
