import { Session } from 'node:inspector/promises';
import { setTimeout } from 'node:timers/promises';
import { adminError } from '../error-codes.ts';

/** Takes one profile at a time of this process. Both are V8's own formats, which the developer tools of browsers read. */
export interface Profiler {
  /** Where time goes, as `.cpuprofile`. Rejects with `ERR_ADMIN_BUSY`. */
  cpu(durationMs: number, signal: AbortSignal): Promise<object>;
  /** Who allocates what stays, as `.heapprofile`: names and sizes, no contents. Rejects with `ERR_ADMIN_BUSY`. */
  heap(durationMs: number, signal: AbortSignal): Promise<object>;
}

/** Makes the profiler of a port. */
export function createProfiler(): Profiler {
  let busy = false;
  async function take(profile: (session: Session) => Promise<object>): Promise<object> {
    if (busy) throw adminError('ERR_ADMIN_BUSY');
    busy = true;
    const session = new Session();
    session.connect();
    try {
      return await profile(session);
    } finally {
      session.disconnect();
      busy = false;
    }
  }
  return {
    cpu: (durationMs, signal) =>
      take(async (session) => {
        await session.post('Profiler.enable');
        await session.post('Profiler.start');
        await waitFor(durationMs, signal);
        return (await session.post('Profiler.stop')).profile;
      }),
    heap: (durationMs, signal) =>
      take(async (session) => {
        await session.post('HeapProfiler.startSampling');
        await waitFor(durationMs, signal);
        return (await session.post('HeapProfiler.stopSampling')).profile;
      }),
  };
}

/** Ends early when nobody waits for the profile any more. */
async function waitFor(durationMs: number, signal: AbortSignal): Promise<void> {
  await setTimeout(durationMs, undefined, { signal, ref: false }).catch(() => {});
}
