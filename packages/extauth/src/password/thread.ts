// The code of a thread that checks passwords, so that no request waits for a hash of another one.
import { parentPort } from 'node:worker_threads';
import { matches, type StoredHash } from './hash.ts';

/** What a thread is asked: each check is made, so that the time does not tell which one counts. */
export interface ThreadJob {
  readonly password: string;
  readonly hashes: readonly StoredHash[];
}

parentPort!.on('message', ({ password, hashes }: ThreadJob) => {
  // oxlint-disable-next-line require-post-message-target-origin
  parentPort!.postMessage(hashes.map((stored) => isMatch(password, stored)));
});

/** A stored hash that is malformed matches nothing. */
function isMatch(password: string, stored: StoredHash): boolean {
  try {
    return matches(password, stored);
  } catch {
    return false;
  }
}
