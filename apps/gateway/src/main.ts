#!/usr/bin/env node
// Without static imports, because older versions of Node.js cannot load the modules of the program.
const [major = 0, minor = 0] = process.version.slice(1).split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 18)) {
  const { keepCompiledCode } = await import('@edge-gateway/core/compile-cache');
  const cache = keepCompiledCode(process.env);
  // For workers.
  if (cache !== undefined) process.env['NODE_COMPILE_CACHE'] = cache;
  const { limitYoungGeneration } = await import('./process/young-generation.ts');
  limitYoungGeneration([...process.execArgv, process.env['NODE_OPTIONS'] ?? '']);
  const { importQuickly } = await import('./process/quick-imports.ts');
  await importQuickly();
  await import('./roles/start.ts');
} else {
  console.error(`edge-gateway needs Node.js 22.18 or later, this is ${process.version}`);
  process.exitCode = 1;
}
