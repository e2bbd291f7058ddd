import { run } from '../run.ts';

/** Runs the call of this process. */
export async function start(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A reader that exits early (`gatewayctl get vs | head -1`) is not an error.
      if (error.code === 'EPIPE') process.exit(0);
      throw error;
    });
  }

  process.exitCode = await run(
    {
      stdout: process.stdout,
      stderr: process.stderr,
      env: process.env,
      isTTY: process.stdout.isTTY && process.stderr.isTTY,
      cwd: process.cwd(),
    },
    process.argv.slice(2),
  );
}
