import { totalmem } from 'node:os';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

/** Used shares of the limits of the process, each between 0 and 1. */
export interface MemoryUse {
  readonly heap: number;
  readonly resident: number;
}

/** Detects that memory is so scarce that new requests must be rejected. */
export interface MemoryWatch {
  readonly isScarce: boolean;
  close(): void;
}

export interface MemoryWatchOptions {
  readonly measure?: () => MemoryUse;
  /** Called when memory becomes scarce, and when it no longer is. */
  readonly onChange: (isScarce: boolean, use: MemoryUse) => void;
}

const INTERVAL_MS = 20;
/** From this share on, in two measurements in a row: the first one may be garbage. */
const SCARCE = 0.85;
const ENOUGH = 0.75;
/** The part of the heap limit for young objects, by default on 64-bit systems; V8 does not report it. */
const YOUNG_BYTES = (Number.parseInt(process.versions.node) >= 24 ? 192 : 48) * 1024 * 1024;

/** Starts to measure memory, 50 times a second, without keeping the process alive. */
export function createMemoryWatch({ measure = measureMemory(), onChange }: MemoryWatchOptions): MemoryWatch {
  let isScarce = false;
  let highBefore = false;
  const timer = setInterval(() => {
    const use = measure();
    const share = Math.max(use.heap, use.resident);
    const isHigh = share >= (isScarce ? ENOUGH : SCARCE);
    const next = isScarce ? isHigh : isHigh && highBefore;
    highBefore = isHigh;
    if (next === isScarce) return;
    isScarce = next;
    onChange(isScarce, use);
  }, INTERVAL_MS).unref();
  return {
    get isScarce() {
      return isScarce;
    },
    close: () => clearInterval(timer),
  };
}

/**
 * Returns a function that measures this process against the limit of its heap, and against that of its container, or the memory of the machine if
 * it has none. Both are in bytes; a container without a limit has 0, or more than the machine.
 */
export function measureMemory(constrained = process.constrainedMemory(), machine = totalmem()): () => MemoryUse {
  const total = getHeapStatistics().heap_size_limit;
  const heapLimit = Math.max(total - YOUNG_BYTES, total / 4);
  const residentLimit = constrained > 0 ? Math.min(constrained, machine) : machine;
  return () => {
    let used = 0;
    for (const space of getHeapSpaceStatistics()) if (!isYoung(space.space_name)) used += space.space_used_size;
    return { heap: used / heapLimit, resident: process.memoryUsage.rss() / residentLimit };
  };
}

function isYoung(space: string): boolean {
  return space.startsWith('new_') || space === 'read_only_space';
}
