// Notices the end of the process that started this one, however it ends.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const POLL_MS = 500;
const SHELL = /^-?(?:busybox|[a-z]*sh)$/;

/**
 * Calls back once when the parent of this process has ended. npm starts a shell that starts the script, and passes only some signals on to it:
 * the end of npm counts too.
 */
export function whenParentEnds(callback) {
  // Processes keep the number of their parent there.
  if (process.platform === 'win32') return;
  const parent = process.ppid;
  const npm = process.env.npm_lifecycle_event === undefined ? undefined : startedShell(parent);
  const timer = setInterval(() => {
    if (process.ppid === parent && (npm === undefined || isParent(npm, parent))) return;
    clearInterval(timer);
    callback();
  }, POLL_MS);
  timer.unref();
}

/**
 * Returns the number of the process that started a shell; nothing for another process. Many shells let the script replace them: then the parent of the
 * script is npm, and the parent of npm may end before it.
 */
export function startedShell(pid) {
  const { name = '', parent } = processOf(pid) ?? {};
  return SHELL.test(name) ? parent : undefined;
}

function isParent(pid, child) {
  if (process.platform === 'linux') return processOf(child)?.parent === pid;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Returns the name of a process, and the number of its parent; nothing if it has ended. */
function processOf(pid) {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)]);
    const [, parent, name] = /^\s*(\d+)\s+(?:.*\/)?(.*?)\s*$/.exec(stdout?.toString() ?? '') ?? [];
    return parent && { parent: Number(parent), name };
  }
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may contain spaces.
    const end = text.lastIndexOf(')');
    return { parent: Number(text.slice(end + 2).split(' ')[1]), name: text.slice(text.indexOf('(') + 1, end) };
  } catch {
    return undefined;
  }
}
