import { CommanderError } from 'commander';

/** Thrown by a command that has said everything already and only needs its exit status. */
export function exitStatus(status: number): CommanderError {
  return new CommanderError(status, 'gatewayctl.exit', '');
}
