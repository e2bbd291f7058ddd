import { flushCompileCache } from 'node:module';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const MEGABYTE = 1024 * 1024;
/** Size in bytes at which the young generation stops growing; the last doubling may exceed it. */
const GROWN_BYTES = 8 * MEGABYTE;
const SIZE_FLAG = /--(?:max|min)[-_]semi[-_]space[-_]size|--semi[-_]space[-_]growth[-_]factor/;

/** Undefined if the flags of the process set the size. */
let updateGrowth: (() => void) | undefined;

/**
 * Lets the young generation grow only when the modules of the program are loaded, and only to 8 or 16 MB. On machines with much memory, V8 lets
 * it grow to 128 MB while modules and the configuration are loaded and keeps that size, although forwarding does not become faster. Call it
 * before other modules are imported. Has no effect if `flags` set its size.
 */
export function limitYoungGeneration(flags: readonly string[]): void {
  if (setsSize(flags)) return;
  let grows = false;
  setGrowth(grows);
  updateGrowth = () => {
    const mayGrow = youngGenerationBytes() < GROWN_BYTES;
    if (mayGrow === grows) return;
    grows = mayGrow;
    // Code that was compiled with other flags would not be read from the cache.
    flushCompileCache();
    setGrowth(grows);
  };
  // Called in later turns of the event loop. V8 shrinks the young generation while the process is idle; it can then grow again.
  new PerformanceObserver(updateGrowth).observe({ entryTypes: ['gc'] });
}

/** Lets the young generation grow from now on: call it before work that takes one long turn of the event loop, such as reading large files. */
export function growYoungGeneration(): void {
  updateGrowth?.();
}

/** Returns the flags that limit the young generation of a process to 16 MB, two semispaces; none if `flags` set its size. */
export function youngGenerationFlags(flags: readonly string[]): readonly string[] {
  return setsSize(flags) ? [] : [`--max-semi-space-size=${GROWN_BYTES / MEGABYTE}`];
}

function setsSize(flags: readonly string[]): boolean {
  return flags.some((flag) => SIZE_FLAG.test(flag));
}

function setGrowth(grows: boolean): void {
  setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
}

function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
}
