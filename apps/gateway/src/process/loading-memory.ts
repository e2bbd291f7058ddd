import { getHeapStatistics } from 'node:v8';

/** Size in bytes from which a heap is large, as with some thousand virtual services: the garbage of loading is then more than the modules of the program. */
const LARGE_HEAP = 112 * 1024 * 1024;

/**
 * Returns the memory to the system that was needed only for loading a large configuration: V8 keeps it, also of an idle process. Nothing else runs
 * meanwhile, for some hundred milliseconds, so it has to be awaited before the process serves. Does nothing if the heap is small.
 */
export async function releaseLoadingMemory(): Promise<void> {
  if (getHeapStatistics().total_heap_size < LARGE_HEAP) return;
  try {
    // Other ways to collect garbage need flags, which have to be set at the start, or change those of compiled code.
    const { Session } = await import('node:inspector');
    const session = new Session();
    session.connect();
    await new Promise((resolve) => session.post('HeapProfiler.collectGarbage', resolve));
    session.disconnect();
  } catch {
    // Builds of Node.js without the inspector keep the memory.
  }
}
