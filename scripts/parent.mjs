// Notices the end of the process that started this one, however it ends.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const POLL_MS = 500;

/**
 * Calls back once when the parent of this process has ended. npm starts a shell that starts the script, and passes only some signals on to it:
 * the end of npm counts too.
 */
export function whenParentEnds(callback) {
  // Processes keep the number of their parent there.
  if (process.platform === 'win32') return;
  const parent = process.ppid;
  const npm = process.env.npm_lifecycle_event === undefined ? undefined : parentOf(parent);
  const timer = setInterval(() => {
    if (process.ppid === parent && (npm === undefined || isParent(npm, parent))) return;
    clearInterval(timer);
    callback();
  }, POLL_MS);
  timer.unref();
}

function isParent(pid, child) {
  if (process.platform === 'linux') return parentOf(child) === pid;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Returns the number of the parent of a process; nothing if that process has ended. */
function parentOf(pid) {
  if (process.platform !== 'linux')
    return Number(spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)]).stdout?.toString()) || undefined;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may contain spaces.
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}
