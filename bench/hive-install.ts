import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const FOLDER = join(import.meta.dirname, '..', '.artifacts', 'hive');
const INSTALL_TIMEOUT_MS = 600_000;

/** What is compared with. */
const MANIFEST = {
  private: true,
  dependencies: {
    '@graphql-hive/gateway': '2.15.1',
    '@graphql-mesh/transport-rest': '0.12.2',
    '@theguild/federation-composition': '0.26.3',
  },
};

/** Installs Hive gateway beside the workspace where it is missing. Throws where npm cannot. */
export function installHive(): void {
  const names = Object.keys(MANIFEST.dependencies);
  if (names.every((name) => existsSync(join(FOLDER, 'node_modules', name)))) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), JSON.stringify(MANIFEST));
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts'];
  execFileSync('npm', args, { cwd: FOLDER, timeout: INSTALL_TIMEOUT_MS, stdio: 'ignore' });
}

/** A module of what was installed. */
export async function hiveModule(name: string): Promise<Record<string, unknown>> {
  const require = createRequire(join(FOLDER, 'package.json'));
  return (await import(pathToFileURL(require.resolve(name)).href)) as Record<string, unknown>;
}
