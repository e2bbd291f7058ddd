#!/usr/bin/env node
// Without static imports, because older versions of Node.js cannot load the modules of the program.
const [major = 0, minor = 0] = process.version.slice(1).split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 18)) {
  const { keepCompiledCode } = await import('@edge-gateway/core/compile-cache');
  keepCompiledCode(process.env);
  await import('./command-line/start.ts');
} else {
  console.error(`gatewayctl needs Node.js 22.18 or later, this is ${process.version}`);
  process.exitCode = 1;
}
