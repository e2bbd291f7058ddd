import { Writable } from 'node:stream';
import type { Io } from '../../src/io.ts';
import { run } from '../../src/run.ts';

/** What one call printed, and its exit status. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a call inside this process and captures what it prints. */
export async function call(argv: readonly string[], more: Partial<Io> = {}): Promise<Outcome> {
  const printed = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk, _encoding, done) {
        printed[name] += String(chunk);
        done();
      },
    });
  const io: Io = { stdout: into('stdout'), stderr: into('stderr'), env: {}, isTTY: false, cwd: process.cwd(), ...more };
  const code = await run(io, argv);
  return { code, ...printed };
}
