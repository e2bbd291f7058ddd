import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const created: string[] = [];

process.on('exit', () => {
  for (const path of created) rmSync(path, { recursive: true, force: true });
});

/** Creates an empty directory, which is removed when the tests have ended. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'gatewayctl-'));
  created.push(path);
  return path;
}
