import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { gatewayNamespace, printable, redact } from '@edge-gateway/core';
import { Option, type Command } from 'commander';
import { addExamples, asGroup, hideGlobalFlags } from '../command-line/command-help.ts';
import { tar } from '../output/tar.ts';
import { PRIVATE, replaceFile } from '../edit/replace-file.ts';
import { listWorkloads, readLogs } from '../cluster/debug-data.ts';
import { openCluster, wantsCluster, type ClusterFlags } from '../cluster/open-cluster.ts';
import { cliError } from '../error-codes.ts';
import { gatewayOf, type Connection } from '../gateway/connection.ts';
import { readSnapshot } from '../gateway/pages.ts';
import { renderObjects, yamlText } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';
import { loadOffline, objectsOf, readClusterObjects } from '../resources/load.ts';
import { idOf, type StatusObject } from '../resources/objects.ts';
import { VIEWS } from '../tables/views.ts';

interface LogFlags extends ClusterFlags {
  readonly namespace: string;
  readonly file?: string;
  readonly errorsOnly?: boolean;
  readonly zip?: boolean;
  readonly controlPlane?: boolean;
}

interface YamlFlags extends ClusterFlags {
  readonly file?: string;
  readonly namespace?: string;
  readonly config?: string;
}

/** `debug`: collects data for a problem report. */
export function addDebug(program: Command, io: Terminal): void {
  const group = asGroup(program.command('debug').description('Collect logs and resources for a report.'));
  addExamples(group, [
    ['gatewayctl debug logs --errors-only', 'the errors in the newest log lines'],
    ['gatewayctl debug yaml -f resources.yaml', 'every resource, without secret values'],
  ]);
  addDebugLogs(group, io);
  addDebugYaml(group, io);
}

const ARCHIVE = 'gw-system-logs.tgz';

function addDebugLogs(group: Command, io: Terminal): void {
  const command = group
    .command('logs')
    .alias('log')
    .description('Print the newest log lines of the gateway.')
    .option('-f, --file <file>', 'write to this file')
    .addOption(
      new Option('-n, --namespace <namespace>', 'namespace of the gateway in a cluster').default(gatewayNamespace()),
    )
    .option('--errors-only', 'only lines of the levels error, panic and fatal')
    .option('--control-plane', 'lines of a control plane that runs apart (--server) instead of the proxy')
    .option('--zip', `write a compressed archive; default file: ${ARCHIVE} in a new folder of the temporary directory`);
  command.action(async () => {
    const flags = command.optsWithGlobals<LogFlags>();
    const { logs, problems } = wantsCluster(flags)
      ? await readLogs(await openCluster(io, flags), flags.namespace)
      : { logs: [await logsOf(gatewayOf(io, command), flags.controlPlane === true)], problems: [] };
    for (const problem of problems) io.err(`Warning: ${problem}`);
    if (logs.length === 0) throw cliError('ERR_CLI_UNREACHABLE', noLogs(flags, problems.length));
    const shown = logs.map(({ name, text }) => ({ name, text: flags.errorsOnly ? errorLines(text) : text }));
    const lines = shown.map(({ text }) => text).join('');
    if (flags.zip) {
      const files = shown.map(({ name, text }) => ({ name, content: Buffer.from(text) }));
      const archive = gzipSync(tar(files, new Date()));
      writeTo(io, flags.file ?? join(mkdtempSync(join(tmpdir(), 'gatewayctl-')), ARCHIVE), archive);
    } else if (flags.file !== undefined) writeTo(io, flags.file, lines);
    else io.write(printable(lines));
  });
}

function noLogs({ namespace }: LogFlags, problems: number): string {
  if (problems > 0) return 'no log can be read';
  return `no pod with the label gw in the namespace ${namespace}; name the namespace of the gateway with -n`;
}

/** The log of one process, as a file of an archive. */
async function logsOf(gateway: Connection, isControlPlane: boolean): Promise<{ name: string; text: string }> {
  return isControlPlane
    ? { name: 'control-plane.log', text: await gateway.controlText('/logs') }
    : { name: 'gateway-proxy.log', text: await gateway.proxy('/logs') };
}

const ERROR_LEVELS: ReadonlySet<unknown> = new Set(['error', 'panic', 'fatal']);
/** The level `error` as a number. */
const ERROR = 50;

/** The lines of JSON with a level from `error`; other lines are left out. */
function errorLines(text: string): string {
  return text
    .split(/(?<=\n)/)
    .filter((line) => {
      try {
        const { level } = JSON.parse(line) as { level?: unknown };
        return typeof level === 'number' ? level >= ERROR : ERROR_LEVELS.has(level);
      } catch {
        return false;
      }
    })
    .join('');
}

/** Logs and resources may reveal more than a group or everybody should read, whatever the mode of an existing file. */
function writeTo(io: Terminal, file: string, content: string | Buffer): void {
  replaceFile(resolve(io.cwd, file), content, { shown: file, mode: PRIVATE });
  io.err(`Wrote ${file}`);
}

function addDebugYaml(group: Command, io: Terminal): void {
  const command = group
    .command('yaml')
    .description('Print every resource with its status, without secret values.')
    .option('-f, --file <file>', 'write to this file')
    .option('-n, --namespace <namespace>', 'only resources of this namespace')
    .option('-c, --config <dir>', 'read this directory of resources instead of a running gateway');
  hideGlobalFlags(command, ['--proxy-admin']);
  command.action(async () => {
    const flags = command.optsWithGlobals<YamlFlags>();
    const objects = await readAll(io, command, flags);
    const chosen = objects.filter(({ metadata }) => (flags.namespace ?? metadata.namespace) === metadata.namespace);
    const text =
      (await workloadsText(io, flags)) + (chosen.length === 0 ? '' : renderObjects(sorted(chosen), 'kube-yaml'));
    if (flags.file === undefined) io.write(text);
    else writeTo(io, flags.file, text);
    if (chosen.length === 0) io.err('No resources here.');
  });
}

/** The objects of a cluster that run the gateway, in front of its resources. */
async function workloadsText(io: Terminal, flags: YamlFlags): Promise<string> {
  if (!wantsCluster(flags)) return '';
  const objects = await listWorkloads(await openCluster(io, flags), flags.namespace ?? gatewayNamespace());
  return objects.map((object) => `${yamlText(redact(object))}---\n`).join('');
}

async function readAll(io: Terminal, command: Command, flags: YamlFlags): Promise<StatusObject[]> {
  const { config } = flags;
  if (wantsCluster(flags) && config === undefined) return readClusterObjects(io, flags);
  if (config !== undefined) return objectsOf(await loadOffline(io, config));
  return (await readSnapshot(gatewayOf(io, command), 'input')).objects;
}

/** By kind in the order of the help of `get`, then by name. */
function sorted(objects: readonly StatusObject[]): StatusObject[] {
  const rankOf = ({ kind }: StatusObject) => VIEWS.findIndex((view) => view.kind === kind);
  return objects.toSorted((a, b) => rankOf(a) - rankOf(b) || (idOf(a)! < idOf(b)! ? -1 : 1));
}
