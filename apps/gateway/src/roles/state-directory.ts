import { hash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns the directory for files that outlive a process: that of the flag, or else `STATE_DIRECTORY` of systemd, or `edge-gateway` below `XDG_STATE_HOME` or
 * `~/.local/state`. `undefined` for `none`.
 */
export function stateDirectory(flag: string | undefined, env = process.env): string | undefined {
  if (flag === 'none') return undefined;
  if (flag !== undefined) return flag;
  const [service] = (env['STATE_DIRECTORY'] ?? '').split(':');
  return service || join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'edge-gateway');
}

/** Returns the snapshot file of a proxy: that of the flag, or one in the state directory. `undefined` for `none`. */
export function snapshotPath(
  flag: string | undefined,
  proxy: string,
  directory: string | undefined,
): string | undefined {
  if (flag === 'none') return undefined;
  if (flag !== undefined) return flag;
  return directory && join(directory, `${proxy.replaceAll(/[^\w.-]/g, '_')}.snapshot`);
}

/** Returns the file of accepted resources for a source of resources, which `source` identifies. */
export function acceptedPath(directory: string, source: string): string {
  return join(directory, `resources-${hash('sha256', source, 'hex').slice(0, 12)}.accepted`);
}
