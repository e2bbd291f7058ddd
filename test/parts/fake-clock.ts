import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installed } from './apt.ts';

/** A clock for a program. */
export interface FakeClock {
  /** Variables for the environment of the program. */
  readonly env: NodeJS.ProcessEnv;
  /** Sets the time, in milliseconds since the epoch. */
  set(nowMs: number): void;
}

/** Creates a clock in a directory (fake-clock.c, compiled with gcc). */
export async function createFakeClock(directory: string, nowMs: number): Promise<FakeClock> {
  const library = join(directory, 'fake-clock.so');
  const file = join(directory, 'fake-clock');
  const source = join(import.meta.dirname, 'fake-clock.c');
  await promisify(execFile)(await installed('gcc'), ['-shared', '-fPIC', '-O2', '-o', library, source]);
  const set = (time: number): void => {
    const content = Buffer.alloc(8);
    content.writeBigInt64LE(BigInt(time));
    // Without truncating it: the program has mapped the file.
    writeFileSync(file, content, { flag: 'r+' });
  };
  writeFileSync(file, Buffer.alloc(8));
  set(nowMs);
  return { env: { FAKE_CLOCK: file, LD_PRELOAD: library }, set };
}
