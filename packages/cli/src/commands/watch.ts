import { once } from 'node:events';
import { resolve } from 'node:path';
import {
  gatewayNamespace,
  directorySource,
  printable,
  type SourceChange,
  type WrittenResource,
  wait,
} from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { addExamples, didYouMean } from '../command-line/command-help.ts';
import { cliError } from '../error-codes.ts';
import { gatewayOf, type Connection } from '../gateway/connection.ts';
import { readSnapshot } from '../gateway/pages.ts';
import { outputOption } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';
import { loadWritten, objectsOf, readWritten } from '../resources/load.ts';
import { idOf, type StatusObject } from '../resources/objects.ts';
import { reportsOf } from '../resources/status.ts';
import { VIEWS } from '../tables/views.ts';

interface WatchFlags {
  readonly namespace: string;
  readonly allNamespaces?: boolean;
  readonly config?: string;
  readonly interval: string;
  readonly output: 'table' | 'json';
}

/** The state of one resource. */
interface Status {
  readonly id: string;
  /** `Removed` if it no longer exists. */
  readonly state: string;
  readonly reason: string;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** `watch [KIND...]`: the status of resources, and each change of it. */
export function addWatch(program: Command, io: Terminal): void {
  const command = program
    .command('watch')
    .description('Print the status of resources and each status change, until Ctrl-C.')
    .argument('[kind...]', 'only these kinds, as get names them')
    .addOption(new Option('-n, --namespace <namespace>', 'namespace of the resources').default(gatewayNamespace()))
    .option('-A, --all-namespaces', 'show resources of all namespaces')
    .option('-c, --config <dir>', 'watch this directory of resources instead of a running gateway')
    .option('--interval <seconds>', 'polling interval for a running gateway', '2')
    .addOption(outputOption('table', 'json'));
  addExamples(command, [
    ['gatewayctl watch', 'while you edit the resources of a running gateway'],
    ['gatewayctl watch vs upstream -c ./resources', 'a directory; needs no gateway'],
  ]);
  command.action(async (words: readonly string[]) => {
    const flags = command.opts<WatchFlags>();
    const kinds = kindsOf(words);
    const intervalMs = parseInterval(flags.interval);
    const stop = new AbortController();
    const end = () => stop.abort();
    for (const signal of SIGNALS) process.once(signal, end);
    io.stdout.once('close', end);
    const isShown = ({ kind, metadata }: StatusObject) =>
      (kinds.size === 0 || kinds.has(kind)) && (flags.allNamespaces || metadata.namespace === flags.namespace);
    const show = createPrinter(io, flags.output, isShown);
    try {
      if (flags.config !== undefined) await watchDirectory(io, flags.config, { show, signal: stop.signal });
      else await watchGateway(io, gatewayOf(io, command, stop), { show, intervalMs, signal: stop.signal });
    } finally {
      for (const signal of SIGNALS) process.off(signal, end);
      io.stdout.off('close', end);
    }
  });
}

function kindsOf(words: readonly string[]): ReadonlySet<string> {
  const names = VIEWS.flatMap(({ command, aliases }) => [command, ...aliases]);
  return new Set(
    words.map((word) => {
      const view = VIEWS.find(({ command, aliases }) => command === word || aliases.includes(word));
      if (view) return view.kind;
      const hint = didYouMean(word, names) || `: choose some of ${VIEWS.map(({ command }) => command).join(', ')}`;
      throw cliError('ERR_CLI_USAGE', `unknown kind "${word}"${hint}`);
    }),
  );
}

function parseInterval(text: string): number {
  const seconds = /^\d{1,5}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (seconds >= 0.1) return seconds * 1000;
  throw cliError('ERR_CLI_USAGE', `--interval must be a number of seconds from 0.1, not '${text}'`);
}

type Show = (objects: readonly StatusObject[]) => void;

/** Returns a function that prints the changes since the previous call. */
function createPrinter(io: Terminal, output: WatchFlags['output'], isShown: (object: StatusObject) => boolean): Show {
  let before = new Map<string, Status>();
  return (objects) => {
    const now = new Map(objects.filter(isShown).map((object) => [idOf(object)!, statusOf(object)]));
    const changed = [...now.values()].filter((one) => !isSame(one, before.get(one.id)));
    const removed = [...before.keys()].filter((id) => !now.has(id)).map((id) => ({ id, state: 'Removed', reason: '' }));
    before = now;
    for (const one of [...changed, ...removed]) print(io, output, one);
  };
}

const isSame = (a: Status, b: Status | undefined): boolean => a.state === b?.state && a.reason === b.reason;

function statusOf(object: StatusObject): Status {
  const reports = reportsOf(object);
  const worst = ['Rejected', 'Warning', 'Pending', 'Accepted'].find((state) =>
    reports.some((one) => one.state === state),
  );
  const reasons = reports.flatMap(({ reason, messages }) => [reason, ...messages]).filter(Boolean);
  return { id: idOf(object)!, state: worst ?? 'Pending', reason: reasons.join('; ').replaceAll(/\s*\n\s*/g, ' ') };
}

function print(io: Terminal, output: WatchFlags['output'], { id, state, reason }: Status): void {
  const [kind, namespace, name] = id.split('/');
  const at = new Date().toISOString();
  if (output === 'json') return io.out(printable(JSON.stringify({ at, kind, namespace, name, state, reason })));
  const { colors } = io;
  const paint = { Accepted: colors.green, Rejected: colors.red, Removed: colors.dim }[state] ?? colors.yellow;
  const time = colors.dim(at.slice(11, 19));
  io.outWrapped(
    `${time}  ${printable(`${kind} ${namespace}/${name}`)}  ${paint(state)}${printable(reason && `  ${reason}`)}`,
  );
}

interface DirectoryWatch {
  readonly show: Show;
  readonly signal: AbortSignal;
}

/** Follows a directory; each change is evaluated as `validate` does it. */
async function watchDirectory(io: Terminal, directory: string, { show, signal }: DirectoryWatch): Promise<void> {
  // An unreadable directory is an error only at startup.
  await readWritten(io, directory);
  const content = new Map<string, readonly WrittenResource[]>();
  const source = directorySource(resolve(io.cwd, directory));
  let evaluation: Promise<void> = Promise.resolve();
  const evaluate = async () => show(objectsOf(await loadWritten(io, directory, new Map(content))));
  const take = (change: SourceChange) => {
    for (const [unit, written] of change) {
      if (written.length > 0) content.set(unit, written);
      else content.delete(unit);
    }
    evaluation = evaluation.then(evaluate);
  };
  await source.start(take);
  if (!signal.aborted) await once(signal, 'abort');
  await source.close();
  await evaluation;
}

interface GatewayWatch extends DirectoryWatch {
  readonly intervalMs: number;
}

/** Polls a running gateway. An unreachable gateway is reported once. */
async function watchGateway(io: Terminal, connection: Connection, watch: GatewayWatch): Promise<void> {
  const { show, intervalMs, signal } = watch;
  show((await readSnapshot(connection, 'input')).objects);
  for (let isUnreachable = false; ;) {
    if (!(await pause(intervalMs, signal))) return;
    try {
      show((await readSnapshot(connection, 'input')).objects);
      if (isUnreachable) io.err('The gateway responds again.');
      isUnreachable = false;
    } catch (error) {
      if (signal.aborted) return;
      if (!isUnreachable) io.err(io.colors.yellow(`Warning: ${printable((error as Error).message)}`));
      isUnreachable = true;
    }
  }
}

/** Waits. Resolves with false if the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await wait(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
