import type { Command } from 'commander';
import { gatewayOf } from '../gateway/connection.ts';
import { isDevelopment, readServerBuild, versionWarning } from '../gateway/version-warning.ts';
import type { Terminal } from '../output/terminal.ts';
import { readPreferences } from './config-file.ts';

/** How long a command waits for the version of the gateway, in milliseconds. */
const VERSION_TIMEOUT_MS = 1000;

/** Runs before each command. */
export interface BeforeCommand {
  /** The version of this program. */
  readonly version: string;
  /** Returns true for commands that connect to a gateway. */
  connects(command: Command): boolean;
}

/** Reads the configuration file before each command, and warns if the versions of gatewayctl and gateway differ. */
export function addPreparation(program: Command, io: Terminal, { version, connects }: BeforeCommand): void {
  program.hook('preAction', async (_program, command) => {
    readPreferences(io);
    if (isDevelopment(version) || !connects(command)) return;
    if (command.optsWithGlobals<{ config?: string }>().config !== undefined) return;
    const running = (await readServerBuild(gatewayOf(io, command, { timeoutMs: VERSION_TIMEOUT_MS })))?.version;
    const warning = running === undefined ? undefined : versionWarning(version, running);
    if (warning !== undefined) io.err(io.colors.yellow(warning));
  });
}
