import { CommanderError } from 'commander';

/** Thrown by a command that has printed everything and only sets the exit status. */
export function exitStatus(status: number): CommanderError {
  return new CommanderError(status, 'gatewayctl.exit', '');
}
