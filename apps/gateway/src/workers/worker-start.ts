// Starts the program of a worker. Without static imports, which would be loaded first.
const { importQuickly } = await import('../process/quick-imports.ts');
await importQuickly();
await import('./worker-main.ts');
