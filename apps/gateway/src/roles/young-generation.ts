import { flushCompileCache } from 'node:module';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Size in bytes at which the young generation stops growing; the last doubling may exceed it. */
const GROWN_BYTES = 16 * 1024 * 1024;
const SIZE_FLAG = /--(?:max|min)[-_]semi[-_]space[-_]size|--semi[-_]space[-_]growth[-_]factor/;

/**
 * Stops the growth of the young generation at 16 or 32 MB. On machines with much memory, V8 lets it grow to 128 MB while the configuration
 * is loaded and keeps that size, although forwarding does not become faster. Has no effect if `flags` set its size.
 */
export function limitYoungGeneration(flags: readonly string[]): void {
  if (flags.some((flag) => SIZE_FLAG.test(flag))) return;
  let grows = true;
  // V8 shrinks it while the process is idle; it can then grow again.
  new PerformanceObserver(() => {
    const mayGrow = youngGenerationBytes() < GROWN_BYTES;
    if (mayGrow === grows) return;
    grows = mayGrow;
    // Code that was compiled with other flags would not be read from the cache.
    flushCompileCache();
    setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
  }).observe({ entryTypes: ['gc'] });
}

function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
}
