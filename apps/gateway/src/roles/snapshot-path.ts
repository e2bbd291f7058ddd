import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns the snapshot file of a proxy: that of the flag, or one below the state directory (`STATE_DIRECTORY` of systemd, `XDG_STATE_HOME`,
 * `~/.local/state`). `undefined` for `none`.
 */
export function snapshotPath(flag: string | undefined, proxy: string, env = process.env): string | undefined {
  if (flag === 'none') return undefined;
  if (flag !== undefined) return flag;
  const [service] = (env['STATE_DIRECTORY'] ?? '').split(':');
  const directory = service || join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'edge-gateway');
  return join(directory, `${proxy.replaceAll(/[^\w.-]/g, '_')}.snapshot`);
}
