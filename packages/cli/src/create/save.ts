import { chmodSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  DEFAULT_NAMESPACE,
  keyOf,
  parseDocuments,
  validateWritten,
  type Kind,
  type Problem,
  type Resource,
  type ResourceKey,
  redact,
} from '@edge-gateway/core';
import { accessChecks } from '@edge-gateway/rbac';
import { Option, type Command } from 'commander';
import { cliError, fileError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { yamlText } from '../output/formats.ts';
import { loadOffline, shownOrigin } from '../resources/load.ts';
import { problemLine } from '../resources/validation.ts';

/** Flags for the destination of a new resource. */
export interface TargetFlags {
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** The flags that every `create` command of one kind has. */
export interface CreateFlags extends TargetFlags {
  readonly name?: string;
  readonly namespace: string;
  /** Of `create` alone. */
  readonly file?: string;
  readonly output?: 'table' | 'yaml' | 'json' | 'kube-yaml';
}

/** A resource as it is written to a file. */
export interface NewResource {
  readonly apiVersion: string;
  readonly kind: Kind;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels?: Record<string, string> };
  readonly [member: string]: unknown;
}

/** Adds the argument and flags of one new resource; `create` itself has the flags for its destination. */
export function withCreateFlags(command: Command): Command {
  return command
    .argument('[name]', 'name of the new resource')
    .option('--name <name>', 'same as the argument')
    .addOption(new Option('-n, --namespace <namespace>', 'namespace of the resource').default(DEFAULT_NAMESPACE))
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'yaml', 'json', 'kube-yaml']));
}

/** The name of argument or flag. */
export function metadataOf(
  argument: string | undefined,
  { name, namespace, file }: CreateFlags,
): NewResource['metadata'] {
  if (file !== undefined) throw cliError('ERR_CLI_USAGE', '--file cannot be combined with a subcommand');
  if (argument !== undefined && name !== undefined && argument !== name) {
    throw cliError('ERR_CLI_USAGE', `the resource cannot be called both ${argument} and ${name}`);
  }
  const found = argument ?? name;
  if (found === undefined) throw cliError('ERR_CLI_USAGE', 'missing name: pass it as argument or with --name');
  return { name: found, namespace };
}

/**
 * Checks a new resource as the gateway would, and writes it to its own file, readable by the owner only. Returns the
 * text to print in the requested format, or nothing for a table. Throws `ERR_CLI_EXISTS` if the resource exists.
 */
export async function save(io: Io, resource: NewResource, flags: CreateFlags): Promise<string | undefined> {
  const text = yamlText(resource);
  const key = keyOfValid(resource.kind, text);
  if (flags.dryRun) return render(resource, flags.output ?? 'kube-yaml');
  const directory = directoryOf(io, flags);
  const file = join(directory, fileOf(key));
  const known = (await loadOffline(io, directory)).resources.get(key);
  refuseTaken(io, { file, known, force: flags.force === true });
  write(resolve(io.cwd, file), file, text);
  return render(redact(resource), flags.output ?? 'table');
}

/** Where new resources are written. */
export function directoryOf(io: Io, { config }: TargetFlags): string {
  const directory = config ?? io.env['GATEWAY_CONFIG'];
  if (directory) return directory;
  throw cliError('ERR_CLI_USAGE', 'pass --config DIR to write the resource, or --dry-run to print it');
}

/** Name of the file of a new resource. */
export function fileOf(key: ResourceKey): string {
  return `${key.replaceAll('/', '-').toLowerCase()}.yaml`;
}

function keyOfValid(kind: Kind, text: string): ResourceKey {
  const { resource, issues } = validateWritten(parseDocuments(text, `${kind.toLowerCase()}.yaml`)[0]!, accessChecks);
  if (resource) return keyOf(kind, resource.metadata);
  const errors = issues.filter(({ severity }) => severity === 'error');
  throw cliError('ERR_CLI_USAGE', errors.map(lineWithoutPlace).join('; '));
}

function lineWithoutPlace(issue: Problem): string {
  const { file, line, column } = issue.origin;
  return problemLine(issue).slice(`${file}:${line}:${column}  `.length);
}

/** Rejects an existing file, and a resource in another file, which `--force` does not overwrite. */
export function refuseTaken(io: Io, at: { file: string; known: Resource | undefined; force: boolean }): void {
  const { file, known, force } = at;
  const there = statSync(resolve(io.cwd, file), { throwIfNoEntry: false }) !== undefined;
  const elsewhere = known !== undefined && resolve(io.cwd, known.origin.file) !== resolve(io.cwd, file);
  if (elsewhere) {
    const place = shownOrigin(io, known.origin);
    throw cliError('ERR_CLI_EXISTS', `${place.file}:${place.line} already contains a resource with this kind and name`);
  }
  if (there && !force) throw cliError('ERR_CLI_EXISTS', `${file} exists already; --force overwrites it`);
}

/** Writes a whole file or none, readable by its owner only. */
export function write(path: string, shown: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
    chmodSync(temporary, 0o600);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw fileError(shown, error);
  }
}

function render(resource: NewResource, output: NonNullable<CreateFlags['output']>): string | undefined {
  if (output === 'table') return undefined;
  if (output === 'json') return JSON.stringify(resource, undefined, 2);
  return yamlText(resource);
}
