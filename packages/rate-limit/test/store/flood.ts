import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Algorithm } from '@edge-gateway/rate-limit';

/** What a process needed that charged many distinct keys. */
export interface Flooded {
  readonly size: number;
  readonly evicted: number;
  /** Counters among the last 100,000 that were not exact. */
  readonly wrong: number;
  readonly rssMb: number;
}

/** Charges distinct keys in a process with this much heap. */
export async function flood(algorithm: Algorithm, keys: number, heapMb: number): Promise<Flooded> {
  const script = join(import.meta.dirname, 'memory-flood.ts');
  const args = ['--conditions=source', `--max-old-space-size=${heapMb}`, script, algorithm, String(keys)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 580_000 });
  return JSON.parse(stdout) as Flooded;
}
