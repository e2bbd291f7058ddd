import { DEFAULT_NAMESPACE, setGatewayNamespace } from '@edge-gateway/core';
import { Command, Help } from 'commander';
import { addAdd } from './commands/add.ts';
import { addCheck } from './commands/check.ts';
import { addCheckCrds } from './commands/check-crds.ts';
import { addCompletion } from './commands/completion.ts';
import { addCreate } from './commands/create.ts';
import { addDashboard } from './commands/dashboard.ts';
import { addDebug } from './commands/debug.ts';
import { addDelete } from './commands/delete.ts';
import { addDiff } from './commands/diff.ts';
import { addEdit } from './commands/edit.ts';
import { addExplain } from './commands/explain.ts';
import { addFmt } from './commands/fmt.ts';
import { addGet } from './commands/get.ts';
import { addGraphql } from './commands/graphql.ts';
import { addInstall } from './commands/install.ts';
import { addProxy } from './commands/proxy.ts';
import { addRatelimit } from './commands/ratelimit.ts';
import { addRemove } from './commands/remove.ts';
import { addRoute } from './commands/route.ts';
import { addTest } from './commands/test.ts';
import { addTrace } from './commands/trace.ts';
import { addValidate } from './commands/validate.ts';
import { CLIENT_VERSION, addVersion } from './commands/version.ts';
import { addWatch } from './commands/watch.ts';
import { DEFAULT_PROXY_ADMIN, DEFAULT_SERVER } from './gateway/connection.ts';
import type { Io } from './io.ts';
import { addPreparation } from './command-line/before-command.ts';
import { addExamples, addHelp, CONNECTION_FLAGS, hideGlobalFlags } from './command-line/command-help.ts';
import { leaveVersionToCommands } from './command-line/own-version.ts';
import { createTerminal, wantsColors } from './output/terminal.ts';

/**
 * Creates the command tree, for `parseAsync(argv, { from: 'user' })`. It throws instead of ending the process;
 * `run` turns an error into one line and an exit status. The namespace of the gateway of the whole process is then that of `GATEWAYCTL_NAMESPACE`.
 */
export function createProgram(io: Io): Command {
  const { version = CLIENT_VERSION } = io;
  const { GATEWAYCTL_SERVER: server, GATEWAYCTL_PROXY_ADMIN: admin, GATEWAYCTL_ADMIN_TOKEN_FILE: tokenFile } = io.env;
  setGatewayNamespace(io.env['GATEWAYCTL_NAMESPACE'] || DEFAULT_NAMESPACE);
  const program = new Command('gatewayctl')
    .description('Inspect a gateway: what it serves, why, and what a change would do.')
    .version(version, '-V, --version', 'print the version of gatewayctl')
    .helpOption('-h, --help', 'print help')
    .configureHelp({
      showGlobalOptions: true,
      minWidthToWrap: MIN_DESCRIPTION,
      formatItem,
      styleTitle: (title) => `\u001b[1m${title}\u001b[22m`,
    })
    .configureOutput(outputOf(io))
    .exitOverride()
    .option('--server <url>', 'URL of the control plane (env GATEWAYCTL_SERVER)', server || DEFAULT_SERVER)
    .option('--proxy-admin <url>', 'URL of the proxy admin (env GATEWAYCTL_PROXY_ADMIN)', admin || DEFAULT_PROXY_ADMIN)
    .option(
      '--admin-token-file <file>',
      'file with the token of both (env GATEWAYCTL_ADMIN_TOKEN_FILE)',
      tokenFile || undefined,
    )
    .option(
      '--kubeconfig <file>',
      'use the cluster of this kubeconfig (env GATEWAYCTL_KUBECONFIG)',
      io.env['GATEWAYCTL_KUBECONFIG'] || undefined,
    )
    .option(
      '--kube-context <name>',
      'use the cluster of this context (env GATEWAYCTL_KUBE_CONTEXT)',
      io.env['GATEWAYCTL_KUBE_CONTEXT'] || undefined,
    );
  const terminal = createTerminal(io);
  for (const add of COMMANDS) add(program, terminal);
  leaveVersionToCommands(program);
  addPreparation(program, terminal, { version, connects });
  for (const command of program.commands.filter((each) => OFFLINE_COMMANDS.has(each.name())))
    for (const each of [command, ...command.commands]) hideGlobalFlags(each, CONNECTION_FLAGS);
  addExamples(program, [
    ['gatewayctl check', 'is everything in order?'],
    ['gatewayctl validate ./resources', 'before a commit; needs no gateway'],
    ['gatewayctl explain GET http://shop.example/cart', 'which route, and why'],
  ]);
  return program;
}

/** In the order of the help. */
const COMMANDS = [
  addCheck,
  addGet,
  addWatch,
  addCreate,
  addAdd,
  addRemove,
  addRoute,
  addEdit,
  addDelete,
  addProxy,
  addValidate,
  addTest,
  addFmt,
  addDiff,
  addExplain,
  addTrace,
  addGraphql,
  addRatelimit,
  addDebug,
  addDashboard,
  addInstall,
  addCheckCrds,
  addVersion,
  addCompletion,
  addHelp,
];

/** Commands that never connect to a gateway. */
const OFFLINE_COMMANDS: ReadonlySet<string> = new Set(['validate', 'test', 'fmt', 'completion', 'help']);

/** Commands that only change a directory or a cluster. */
const CHANGING_COMMANDS: ReadonlySet<string> = new Set(
  'create add remove route edit delete install upgrade uninstall check-crds'.split(' '),
);

function connects(command: Command): boolean {
  const top = topOf(command);
  return !OFFLINE_COMMANDS.has(top) && !CHANGING_COMMANDS.has(top);
}

/** The first word of a command. */
function topOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? topOf(parent) : command.name();
}

/** Columns that a description needs beside its term. */
const MIN_DESCRIPTION = 28;

/** A flag or command of a help with its description, which is below the term in a narrow terminal. */
function formatItem(this: Help, ...[term, termWidth, description, help]: Parameters<Help['formatItem']>): string {
  const width = help.helpWidth ?? 80;
  const longestWord = Math.max(...description.split(' ').map((word) => word.length));
  if (width - termWidth - 4 >= Math.max(MIN_DESCRIPTION, longestWord))
    return Help.prototype.formatItem.call(this, term, termWidth, description, help);
  const lines = help.boxWrap(description, width - 6).split('\n');
  return [`  ${term}`, ...lines.map((line) => `      ${line}`)].join('\n');
}

function outputOf(io: Io) {
  const width = () => (io.isTTY ? ((io.stdout as { columns?: number }).columns ?? 100) : 100);
  return {
    writeOut: (text: string) => void io.stdout.write(text),
    writeErr: (text: string) => void io.stderr.write(text),
    /** Errors are printed once, by `run`. */
    outputError: () => {},
    getOutHelpWidth: width,
    getErrHelpWidth: width,
    getOutHasColors: () => wantsColors(io),
    getErrHasColors: () => wantsColors(io),
  };
}
