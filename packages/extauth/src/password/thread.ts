// The code of a thread that checks passwords, so that hashing does not block other requests.
import { parentPort } from 'node:worker_threads';
import { isMatch, type StoredHash } from './hash.ts';

/** A job of a thread. Every check is made, so that the time does not reveal which one counts. */
export interface ThreadJob {
  readonly password: string;
  readonly hashes: readonly StoredHash[];
}

parentPort!.on('message', ({ password, hashes }: ThreadJob) => {
  // oxlint-disable-next-line require-post-message-target-origin
  parentPort!.postMessage(hashes.map((stored) => isMatch(password, stored)));
});
