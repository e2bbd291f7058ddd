import type { Command } from 'commander';
import type { Connection } from '../connection.ts';
import { cliError } from '../error-codes.ts';
import { followFile } from '../follow.ts';
import { gatewayOf } from '../gateway.ts';
import type { Io } from '../io.ts';
import { text } from '../objects.ts';
import { printable } from '../printable.ts';
import { createTerminal } from '../terminal.ts';

interface LogFlags {
  readonly debug: string;
  readonly follow?: boolean;
}

/** `proxy logs`: raises the log level and shows the log, or says where it is. */
export function addProxyLogs(proxy: Command, io: Io): void {
  const command = proxy
    .command('logs')
    .description('Raise the log level of the proxy to debug, and print its log file to standard error.')
    .option('-d, --debug <boolean>', 'false leaves the log level as it is', 'true')
    .option('-f, --follow', 'go on printing what is added');
  command.action(async () => {
    const flags = command.opts<LogFlags>();
    if (flags.debug !== 'true' && flags.debug !== 'false') {
      throw cliError('ERR_CLI_USAGE', `--debug must be true or false, not '${flags.debug}'`);
    }
    await showLogs(io, gatewayOf(io, command), flags);
  });
}

async function showLogs(io: Io, connection: Connection, flags: LogFlags): Promise<void> {
  const { err } = createTerminal(io);
  if (flags.debug === 'true') {
    await connection.proxy('/logging?level=debug', 'POST');
    err('The log level of the proxy is debug now, and stays so until it is set again.');
  }
  const file = await logFileOf(connection);
  if (file === '') {
    const where = 'The gateway writes its log to its standard error and its access log to its standard output';
    err(`${where}: look where it was started, or start it with "2> gateway.log".`);
    return;
  }
  const decoder = new TextDecoder();
  const print = (chunk: Buffer) => void io.stderr.write(printable(decoder.decode(chunk, { stream: true })));
  if (!flags.follow) return followFile(file, print);
  await followUntilStopped(io, file, print);
}

/** Follows the file until Ctrl-C, or until whoever reads our output goes away. */
async function followUntilStopped(io: Io, file: string, print: (chunk: Buffer) => void): Promise<void> {
  const stop = new AbortController();
  const end = () => stop.abort();
  process.once('SIGINT', end);
  io.stderr.once('close', end);
  try {
    if (!io.stderr.destroyed) await followFile(file, print, stop.signal);
  } finally {
    process.off('SIGINT', end);
    io.stderr.off('close', end);
  }
}

/** The log file that the proxy names in `/server_info`; empty when it has none. */
async function logFileOf(connection: Connection): Promise<string> {
  const body = await connection.proxy('/server_info');
  try {
    const info: unknown = JSON.parse(body);
    return text(info, 'command_line_options', 'log_path');
  } catch {
    return '';
  }
}
