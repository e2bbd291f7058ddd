import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { addExamples, hideGlobalFlags } from '../command-line/command-help.ts';
import { addressedGatewayOf } from '../gateway/connection.ts';
import type { Terminal } from '../output/terminal.ts';

/** `dashboard`: opens the status page of the control plane. */
export function addDashboard(program: Command, io: Terminal): void {
  const command = program
    .command('dashboard')
    .alias('ui')
    .description('Open the status page of a running gateway in a browser.')
    .option('--no-browser', 'only print its URL');
  hideGlobalFlags(command, ['--proxy-admin']);
  addExamples(command, [['gatewayctl dashboard --no-browser', 'only the URL, also when the output is not a terminal']]);
  command.action(async () => {
    const { browser } = command.opts<{ browser: boolean }>();
    const connection = addressedGatewayOf(io, command);
    await connection.control('/version');
    const url = `${connection.server.origin}${connection.server.pathname}`;
    io.out(url);
    if (browser && io.isTTY) openBrowser(io, url);
  });
}

/** The program that opens URLs, by platform. */
const OPENERS: Readonly<Record<string, string>> = { darwin: 'open', win32: 'explorer' };

/** Starts the browser detached: it outlives this process. */
function openBrowser(io: Terminal, url: string): void {
  const opener = io.env['BROWSER'] || OPENERS[process.platform] || 'xdg-open';
  const child = spawn(opener, [url], { env: { ...io.env }, stdio: 'ignore', detached: true });
  child.once('error', () => io.err(`No browser could be started with ${opener}; open the URL yourself.`));
  child.unref();
}
