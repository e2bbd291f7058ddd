import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { printable } from '@edge-gateway/core';
import type { Command } from 'commander';
import { addExamples, asGroup, hideGlobalFlags } from '../command-line/command-help.ts';
import { tar } from '../output/tar.ts';
import { replaceFile } from '../edit/replace-file.ts';
import { gatewayOf } from '../gateway/connection.ts';
import { readSnapshot } from '../gateway/pages.ts';
import { renderObjects } from '../output/formats.ts';
import type { Terminal } from '../output/terminal.ts';
import { loadOffline, objectsOf } from '../resources/load.ts';
import { idOf, type StatusObject } from '../resources/objects.ts';
import { VIEWS } from '../tables/views.ts';

interface LogFlags {
  readonly file?: string;
  readonly errorsOnly?: boolean;
  readonly zip?: boolean;
}

interface YamlFlags {
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
    .option('--errors-only', 'only lines of the levels error, panic and fatal')
    .option('--zip', `write a compressed archive; default file: ${ARCHIVE} in the temporary directory`);
  hideGlobalFlags(command, ['--server']);
  command.action(async () => {
    const flags = command.opts<LogFlags>();
    const all = await gatewayOf(io, command).proxy('/logs');
    const lines = flags.errorsOnly ? errorLines(all) : all;
    if (flags.zip) {
      const archive = gzipSync(tar([{ name: 'gateway-proxy.log', content: Buffer.from(lines) }], new Date()));
      writeTo(io, flags.file ?? join(tmpdir(), ARCHIVE), archive);
    } else if (flags.file !== undefined) writeTo(io, flags.file, lines);
    else io.write(printable(lines));
  });
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

function writeTo(io: Terminal, file: string, content: string | Buffer): void {
  replaceFile(resolve(io.cwd, file), content, { shown: file });
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
    const flags = command.opts<YamlFlags>();
    const objects = await readAll(io, command, flags);
    const chosen = objects.filter(({ metadata }) => (flags.namespace ?? metadata.namespace) === metadata.namespace);
    const text = chosen.length === 0 ? '' : renderObjects(sorted(chosen), 'kube-yaml');
    if (flags.file === undefined) io.write(text);
    else writeTo(io, flags.file, text);
    if (chosen.length === 0) io.err('No resources here.');
  });
}

async function readAll(io: Terminal, command: Command, { config }: YamlFlags): Promise<StatusObject[]> {
  if (config !== undefined) return objectsOf(await loadOffline(io, config));
  return (await readSnapshot(gatewayOf(io, command), 'input')).objects;
}

/** By kind in the order of the help of `get`, then by name. */
function sorted(objects: readonly StatusObject[]): StatusObject[] {
  const rankOf = ({ kind }: StatusObject) => VIEWS.findIndex((view) => view.kind === kind);
  return objects.toSorted((a, b) => rankOf(a) - rankOf(b) || (idOf(a)! < idOf(b)! ? -1 : 1));
}
