#!/usr/bin/env node
import { nodeVersionProblem } from '@edge-gateway/core/node-version';

// Older versions of Node.js cannot load the other modules of the program.
const problem = nodeVersionProblem('gatewayctl');
if (problem === undefined) {
  const { keepCompiledCode } = await import('@edge-gateway/core/compile-cache');
  keepCompiledCode(process.env);
  const { start } = await import('./command-line/start.ts');
  await start();
} else {
  console.error(problem);
  process.exitCode = 1;
}
