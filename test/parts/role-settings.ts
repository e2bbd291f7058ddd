import { expect } from 'chai';
import { createProgram } from '../../apps/gateway/src/command-line/program.ts';

/** Returns the settings that `edge-gateway` reads from a command line; fails if it rejects the command line. */
export async function settingsOf(args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  let settings: object | undefined;
  const program = createProgram(async (read) => void (settings = read));
  const { exit } = process;
  process.exit = (() => expect.fail(`rejects ${args.join(' ')}`)) as never;
  try {
    await program.parseAsync(['node', 'edge-gateway', ...args]);
  } finally {
    process.exit = exit;
  }
  return settings as Readonly<Record<string, unknown>>;
}
