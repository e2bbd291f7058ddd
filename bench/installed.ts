import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const INSTALL_TIMEOUT_MS = 600_000;

const folderOf = (name: string): string => join(import.meta.dirname, '..', '.artifacts', name);

type Versions = Readonly<Record<string, string>>;

/** Installs packages beside the workspace where they are missing; `overrides` fixes versions of their dependencies. Throws where npm cannot. */
export function installBeside(folder: string, dependencies: Versions, overrides: Versions = {}): void {
  const cwd = folderOf(folder);
  if (Object.keys(dependencies).every((name) => existsSync(join(cwd, 'node_modules', name)))) return;
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ private: true, dependencies, overrides }));
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts'];
  execFileSync('npm', args, { cwd, timeout: INSTALL_TIMEOUT_MS, stdio: 'ignore' });
}

/** A module of what was installed. */
export async function moduleIn(folder: string, name: string): Promise<Record<string, unknown>> {
  const require = createRequire(join(folderOf(folder), 'package.json'));
  return (await import(pathToFileURL(require.resolve(name)).href)) as Record<string, unknown>;
}
