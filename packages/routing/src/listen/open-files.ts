import { readFileSync } from 'node:fs';

/** Files that are neither connections of clients nor of upstreams: certificates, logs, admin ports. */
const RESERVED_FILES = 64;

/** The connections of clients that a process can have without running out of file descriptors. */
export interface ConnectionBudget {
  /** Number of connections that may still be accepted. */
  free(): number;
  acquire(): void;
  release(): void;
}

/**
 * Returns a budget of half the files that the process may open, so that each connection of a client can have one to an
 * upstream. Unlimited if the system does not report its limit.
 */
export function createConnectionBudget(maxOpenFiles = readMaxOpenFiles()): ConnectionBudget {
  const max = Math.max(1, Math.floor((maxOpenFiles - RESERVED_FILES) / 2));
  let used = 0;
  return {
    free: () => Math.max(0, max - used),
    acquire: () => void used++,
    release: () => void used--,
  };
}

/** Node.js itself raises the soft limit to the hard one at its start. */
function readMaxOpenFiles(): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
