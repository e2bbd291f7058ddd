import { once } from 'node:events';
import { readableLine, printable } from '@edge-gateway/core';
import type { Command } from 'commander';
import { gatewayOf, type Connection } from '../gateway/connection.ts';
import { cliError } from '../error-codes.ts';
import { wantsColors, type Terminal } from '../output/terminal.ts';

interface LogFlags {
  readonly debug: string;
  readonly follow?: boolean;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** `proxy logs`: the newest log lines of the proxy; with `-f`, new lines at level debug. */
export function addProxyLogs(proxy: Command, io: Terminal): Command {
  const command = proxy
    .command('logs')
    .description('Print the newest log lines of the proxy.')
    .option('-f, --follow', 'stream new lines, with the log level set to debug until the command ends')
    .option('-d, --debug <boolean>', 'with -f: false leaves the log level unchanged', 'true');
  return command.action(async () => {
    const flags = command.opts<LogFlags>();
    if (flags.debug !== 'true' && flags.debug !== 'false') {
      throw cliError('ERR_CLI_USAGE', `--debug must be true or false, not '${flags.debug}'`);
    }
    const connection = gatewayOf(io, command);
    if (flags.follow) await follow(io, connection, flags.debug === 'true');
    else {
      const lines = await connection.proxy('/logs');
      io.write(lineFormat(io)(lines.endsWith('\n') || !isTerminal(io) ? lines : `${lines}\n`));
    }
  });
}

const isTerminal = (io: Terminal): boolean => (io.stdout as { isTTY?: boolean }).isTTY ?? io.isTTY;

/**
 * Returns a function that turns the next part of a log into the text to print: lines for people on a terminal, else the JSON
 * unchanged. On a terminal an incomplete line is kept until its end arrives.
 */
function lineFormat(io: Terminal): (part: string) => string {
  if (!isTerminal(io)) return printable;
  let begun = '';
  return (part) => {
    const lines = (begun + part).split('\n');
    begun = lines.pop()!;
    return lines.map((line) => readableLine(line, { colors: wantsColors(io) })).join('');
  };
}

/**
 * Prints until Ctrl-C, a signal, or until the reader of the output exits. The gateway itself restores the level when the
 * connection ends, however this process ends.
 */
async function follow(io: Terminal, connection: Connection, debug: boolean): Promise<void> {
  const stop = new AbortController();
  const end = () => stop.abort();
  for (const signal of SIGNALS) process.once(signal, end);
  io.stdout.once('close', end);
  const { err } = io;
  const decoder = new TextDecoder();
  const format = lineFormat(io);
  try {
    const chunks = debug
      ? connection.follow('/logs?follow&level=debug', 'POST', stop.signal)
      : connection.follow('/logs?follow', 'GET', stop.signal);
    let isFirst = true;
    for await (const chunk of chunks) {
      if (isFirst && debug) err('The log level of the proxy is debug until this command ends.');
      isFirst = false;
      const isFull = !io.stdout.write(format(decoder.decode(chunk, { stream: true })));
      if (isFull) await once(io.stdout, 'drain', { signal: stop.signal });
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
    io.stdout.off('close', end);
  }
  if (!stop.signal.aborted) throw cliError('ERR_CLI_UNREACHABLE', 'the gateway closed the connection');
  if (debug) err('The log level of the proxy has been restored.');
}
