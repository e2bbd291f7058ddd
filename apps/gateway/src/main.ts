#!/usr/bin/env node
// Without static imports, because older versions of Node.js cannot load the modules of the program.
const [major = 0, minor = 0] = process.version.slice(1).split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 18)) {
  const { limitYoungGeneration } = await import('./roles/young-generation.ts');
  limitYoungGeneration([...process.execArgv, process.env['NODE_OPTIONS'] ?? '']);
  await import('./roles/start.ts');
} else {
  console.error(`edge-gateway needs Node.js 22.18 or later, this is ${process.version}`);
  process.exitCode = 1;
}
