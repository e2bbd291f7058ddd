import { realpathSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import watcher from '@parcel/watcher';
import type { Logger } from '../logger.ts';

/** How often the folder itself is looked at: whether it is still the same one. */
const HEARTBEAT_MS = 500;

/** A path that changed: below the folder as it was named, and as it really is. */
export interface WatchedPath {
  readonly path: string;
  readonly real: string;
}

export interface WatchListener {
  changed(paths: readonly WatchedPath[]): void;
  /** Something happened of which only a full listing tells the outcome. */
  unknown(): void;
  /** Every half second; `watching` is false when the system gives no watcher. */
  beat(watching: boolean): void;
}

/**
 * Watches a folder with all below it, and goes on when the folder is deleted, made again or swapped behind a link.
 * Gives the way to stop.
 */
export async function watchFolder(root: string, listener: WatchListener, log: Logger): Promise<() => Promise<void>> {
  let subscription: watcher.AsyncSubscription | undefined;
  let watched: string | undefined;
  let failed = '';
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let beating = Promise.resolve();

  async function subscribe(identity: string): Promise<void> {
    await subscription?.unsubscribe().catch(() => {});
    subscription = undefined;
    watched = identity;
    if (identity === '') return log.warn({ directory: root }, 'the directory is gone, waiting for it');
    const real = realpathSync(root);
    subscription = await watcher.subscribe(real, (error, events) => received(real, error, events));
    failed = '';
    listener.unknown();
  }

  function received(real: string, error: Error | null, events: readonly watcher.Event[]): void {
    if (closed) return;
    if (error) {
      log.warn({ directory: root, reason: error.message }, 'the watcher lost events, reading all again');
      watched = undefined;
      listener.unknown();
      return;
    }
    if (events.some(({ path }) => path === real)) watched = undefined;
    listener.changed(events.map(({ path }) => ({ path: join(root, relative(real, path)), real: path })));
  }

  async function beat(): Promise<void> {
    const identity = identityOf(root);
    try {
      if (identity !== watched) await subscribe(identity);
    } catch (error) {
      watched = undefined;
      const { message } = error as Error;
      if (message !== failed) log.warn({ directory: root, reason: message }, 'cannot watch the directory, polling it');
      failed = message;
    }
    if (closed) return;
    if (identity !== '') listener.beat(subscription !== undefined);
    timer = setTimeout(() => (beating = beat()), HEARTBEAT_MS).unref();
  }

  await beat();
  return async () => {
    closed = true;
    clearTimeout(timer);
    await beating;
    await subscription?.unsubscribe().catch(() => {});
  };
}

/** What a folder really is; empty when there is none. */
function identityOf(root: string): string {
  try {
    const { dev, ino, birthtimeMs } = statSync(root);
    return `${realpathSync(root)} ${dev} ${ino} ${birthtimeMs}`;
  } catch {
    return '';
  }
}
