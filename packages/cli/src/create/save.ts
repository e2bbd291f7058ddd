import { chmodSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  DEFAULT_NAMESPACE,
  formatIssue,
  keyOf,
  parseDocuments,
  validateWritten,
  type Kind,
  type Resource,
} from '@edge-gateway/core';
import { accessChecks } from '@edge-gateway/rbac';
import { Option, type Command } from 'commander';
import { stringify } from 'yaml';
import { cliError, fileError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { loadOffline, shownOrigin } from '../offline.ts';
import { redact } from '../redact.ts';

/** The flags that every `create` command has. */
export interface CreateFlags {
  readonly name?: string;
  readonly namespace: string;
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly output?: 'table' | 'yaml' | 'json' | 'kube-yaml';
}

/** A resource as it is written to a file. */
export interface NewResource {
  readonly apiVersion: string;
  readonly kind: Kind;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels?: Record<string, string> };
  readonly [member: string]: unknown;
}

/** Gives a command the argument and flags of `create`. */
export function withCreateFlags(command: Command): Command {
  return command
    .argument('[name]', 'name of the new resource')
    .option('--name <name>', 'the same as the argument')
    .addOption(new Option('-n, --namespace <namespace>', 'its namespace').default(DEFAULT_NAMESPACE))
    .option('-c, --config <dir>', 'directory of resources to write it into (env GATEWAY_CONFIG)')
    .option('--dry-run', 'print it, secret values included, and write nothing')
    .option('--force', 'overwrite the file of a resource of the same name')
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['table', 'yaml', 'json', 'kube-yaml']));
}

/** The name of argument or flag. */
export function metadataOf(argument: string | undefined, { name, namespace }: CreateFlags): NewResource['metadata'] {
  if (argument !== undefined && name !== undefined && argument !== name) {
    throw cliError('ERR_CLI_USAGE', `the resource cannot be called both ${argument} and ${name}`);
  }
  const found = argument ?? name;
  if (found === undefined) throw cliError('ERR_CLI_USAGE', 'a name is needed: an argument, or --name');
  return { name: found, namespace };
}

/**
 * Checks a new resource as the gateway would, and writes it into a file of its own, readable by the owner only. Gives the
 * text to print in the asked form, or nothing for a table. `ERR_CLI_EXISTS` when it is there already.
 */
export async function save(io: Io, resource: NewResource, flags: CreateFlags): Promise<string | undefined> {
  const text = stringify(resource, { lineWidth: 0, aliasDuplicateObjects: false });
  const key = keyOfValid(resource.kind, text);
  if (flags.dryRun) return render(resource, flags.output ?? 'kube-yaml');
  const directory = flags.config ?? io.env['GATEWAY_CONFIG'];
  if (!directory) throw cliError('ERR_CLI_USAGE', '--config DIR says where to write it; --dry-run only prints it');
  const { kind, metadata } = resource;
  const file = join(directory, `${kind}-${metadata.namespace}-${metadata.name}.yaml`.toLowerCase());
  const known = (await loadOffline(io, directory)).resources.get(key);
  refuseTaken(io, { file, known, force: flags.force === true });
  write(resolve(io.cwd, file), file, text);
  return render(redact(resource), flags.output ?? 'table');
}

function keyOfValid(kind: Kind, text: string) {
  const { resource, issues } = validateWritten(parseDocuments(text, `${kind.toLowerCase()}.yaml`)[0]!, accessChecks);
  if (resource) return keyOf(kind, resource.metadata);
  const errors = issues.filter(({ severity }) => severity === 'error');
  const said = errors.map((issue) =>
    formatIssue(issue)
      .split('  ')
      .slice(1)
      .join('  ')
      .replaceAll(/\s*\n\s*/g, ' '),
  );
  throw cliError('ERR_CLI_USAGE', said.join('; '));
}

function refuseTaken(io: Io, at: { file: string; known: Resource | undefined; force: boolean }): void {
  const { file, known, force } = at;
  const there = statSync(resolve(io.cwd, file), { throwIfNoEntry: false }) !== undefined;
  const elsewhere = known !== undefined && resolve(io.cwd, known.origin.file) !== resolve(io.cwd, file);
  if (elsewhere) {
    const place = shownOrigin(io, known.origin);
    throw cliError('ERR_CLI_EXISTS', `${place.file}:${place.line} holds a resource of this kind and name already`);
  }
  if (there && !force) throw cliError('ERR_CLI_EXISTS', `${file} exists already; --force overwrites it`);
}

function write(path: string, shown: string, text: string): void {
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
  return stringify(resource, { lineWidth: 0, aliasDuplicateObjects: false });
}
