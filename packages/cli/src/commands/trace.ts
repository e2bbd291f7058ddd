import { printable, type RequestRecording } from '@edge-gateway/core';
import type { Command } from 'commander';
import { addExamples, hideGlobalFlags } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';
import { collect, parseRequest } from '../explain/request-arguments.ts';
import { addressedGatewayOf, type Connection } from '../gateway/connection.ts';
import { chooseListening, readListening } from '../gateway/listening.ts';
import { outputOption } from '../output/formats.ts';
import { renderTable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';

interface TraceFlags {
  readonly header?: readonly string[];
  readonly data?: string;
  readonly connect?: string;
  readonly insecure?: boolean;
  readonly timeout: string;
  readonly output: 'table' | 'json';
}

/** `trace METHOD URL`: sends one request, and prints each step in the proxy with its duration. */
export function addTrace(program: Command, io: Terminal): void {
  const command = program
    .command('trace')
    .description('Send one request through a running gateway, and print each step in the proxy with its duration.')
    .argument('<method>', 'HTTP method, e.g. GET')
    .argument('<url>', 'absolute URL, e.g. http://shop.example/cart; its host need not be in DNS')
    .option('-H, --header <header>', 'request header "name: value"; repeatable', collect)
    .option('--data <text>', 'body of the request')
    .option('--connect <address>', 'host:port of the listener; default: by port or scheme of the URL')
    .option('-k, --insecure', 'accept any certificate')
    .option('--timeout <seconds>', 'maximum time until the end of the response', '30')
    .addOption(outputOption('table', 'json'));
  hideGlobalFlags(command, ['--server']);
  addExamples(command, [
    ['gatewayctl trace GET http://shop.example/cart', 'where the time goes'],
    ["gatewayctl trace POST https://shop.example/ -k --data '{}' -o json", 'as data'],
  ]);
  command.action(async (method: string, url: string) => {
    const flags = command.opts<TraceFlags>();
    const request = parseRequest(method, url, flags.header);
    if (url === '*') throw cliError('ERR_CLI_USAGE', 'the URL must have a host');
    if (request.headers['host']?.[1] !== undefined)
      throw cliError('ERR_CLI_USAGE', 'the header host must not be repeated');
    const timeoutMs = parseTimeout(flags.timeout);
    const connection = addressedGatewayOf(io, command);
    const connectTo = flags.connect === undefined ? await listenerOf(connection, url) : parseAddress(flags.connect);
    const traced = { ...request, body: flags.data, connectTo, verify: flags.insecure !== true, timeoutMs };
    const { traceRequest } = await import('../gateway/traced-request.ts');
    const recording = await io.progress('Sending the request', () => traceRequest(connection, traced));
    io.out(flags.output === 'json' ? JSON.stringify(recording, undefined, 2) : render(recording, io.width));
  });
}

function parseTimeout(text: string): number {
  const seconds = /^\d{1,5}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (seconds > 0) return seconds * 1000;
  throw cliError('ERR_CLI_USAGE', `--timeout must be a number of seconds above 0, not '${text}'`);
}

/** The listener with the port of a URL, else the first one of its scheme. */
async function listenerOf(connection: Connection, url: string): Promise<{ host: string; port: number }> {
  const { port, protocol } = new URL(url);
  return chooseListening(await readListening(connection), port || protocol.slice(0, -1));
}

function parseAddress(address: string): { host: string; port: number } {
  const [, host, port] = /^(\[[\da-fA-F:.]+\]|[\w.-]+):(\d{1,5})$/.exec(address) ?? [];
  if (host !== undefined && Number(port) >= 1 && Number(port) <= 65_535) return { host, port: Number(port) };
  throw cliError('ERR_CLI_USAGE', `--connect must be host:port, not '${address}'`);
}

const ms = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} ms`;

function render(recording: RequestRecording, width: number): string {
  const { method, host, path, listener, virtualHost, route, upstream, status, flags, details } = recording;
  const shownStatus = status === 0 ? 'no response' : String(status);
  const why = [flags, details].filter(Boolean).join(', ');
  const places = { Listener: listener, 'Virtual host': virtualHost, Route: route, Upstream: upstream };
  const lines = Object.entries(places).map(([title, name]) => `${title.padEnd(12)}  ${name || 'none'}`);
  const steps = recording.steps.map((step) => [step.name, ms(step.startMs), ms(step.durationMs), step.result ?? '']);
  const end = ['response', ms(recording.durationMs), '', why ? `${shownStatus} (${why})` : shownStatus];
  const table = renderTable({ columns: ['Step', 'Start', 'Time', 'Result'], rows: [...steps, end] }, width);
  const head = `${method} ${host}${path}: ${shownStatus} in ${ms(recording.durationMs)}`;
  return [printable(head), '', ...lines.map(printable), '', table].join('\n');
}
