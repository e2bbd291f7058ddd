import { flushCompileCache } from 'node:module';
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const MEGABYTE = 1024 * 1024;
/** Size in bytes to which the young generation grows; a later doubling may exceed it. */
const GROWN_BYTES = 8 * MEGABYTE;
/** From the 2 MB that V8 begins with to the size above. */
const FIRST_FACTOR = 4;
/** Elements of 64 KB, and how many of them are allocated at most: V8 lets the young generation grow when as much has survived as it can hold. */
const [ELEMENTS, MAX_ARRAYS] = [8 * 1024, 128];
/** Interval between checks of the size, in milliseconds. */
const CHECK_MS = 5_000;
const SIZE_FLAG = /--(?:max|min)[-_]semi[-_]space[-_]size|--semi[-_]space[-_]growth[-_]factor/;

/**
 * Lets the young generation grow to 8 MB now, and to at most 16 MB later. On machines with much memory, V8 lets it grow to 128 MB while modules
 * and the configuration are loaded and keeps that size, although forwarding does not become faster. Call it before other modules are imported. Has no
 * effect if `flags` set its size.
 */
export function limitYoungGeneration(flags: readonly string[]): void {
  if (setsSize(flags)) return;
  growNow();
  let observer: PerformanceObserver | undefined;
  const update = (): void => {
    const mayGrow = youngGenerationBytes() < GROWN_BYTES;
    if (mayGrow === (observer !== undefined)) return;
    // Code that was compiled with other flags would not be read from the cache.
    flushCompileCache();
    setGrowthFactor(mayGrow ? 2 : 1);
    observer?.disconnect();
    observer = mayGrow ? new PerformanceObserver(update) : undefined;
    // Only as long as it may grow: observing each garbage collection takes 1 % of the time of a busy gateway.
    observer?.observe({ entryTypes: ['gc'] });
  };
  // V8 shrinks the young generation while the process is idle; it can then grow again.
  setInterval(update, CHECK_MS).unref();
}

/** Makes the young generation grow by objects that survive: a configuration is then loaded, perhaps in one turn of the event loop, with fewer collections. */
function growNow(): void {
  setGrowthFactor(FIRST_FACTOR);
  const survivors: number[][] = [];
  while (survivors.length < MAX_ARRAYS && youngGenerationBytes() < GROWN_BYTES) {
    survivors.push(Array.from<number>({ length: ELEMENTS }).fill(survivors.length));
  }
  setGrowthFactor(1);
}

/** Returns the flags that limit the young generation of a process to 16 MB, two semispaces; none if `flags` set its size. */
export function youngGenerationFlags(flags: readonly string[]): readonly string[] {
  return setsSize(flags) ? [] : [`--max-semi-space-size=${GROWN_BYTES / MEGABYTE}`];
}

function setsSize(flags: readonly string[]): boolean {
  return flags.some((flag) => SIZE_FLAG.test(flag));
}

function setGrowthFactor(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
}
