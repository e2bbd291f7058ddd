import { text as readAll } from 'node:stream/consumers';
import {
  gatewayNamespace,
  formatIssue,
  keyOf,
  parseDocuments,
  redact,
  validateWritten,
  type ControlPlaneState,
  type Kind,
  type Problem,
  type ResourceKey,
} from '@edge-gateway/core';
import { accessChecks } from '@edge-gateway/rbac';
import { Option, type Command } from 'commander';
import { parseAllDocuments } from 'yaml';
import { changeResources } from '../edit/change-resources.ts';
import type { ResourceDraft } from '../edit/resource-draft.ts';
import { cliError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import type { Terminal } from '../output/terminal.ts';
import { yamlText } from '../output/formats.ts';
import { problemLine } from '../output/problem-lines.ts';
import { readInputFile } from '../resources/input-file.ts';
import { checksFor, objectsOf } from '../resources/load.ts';
import type { StatusObject } from '../resources/objects.ts';

/** The flags that every `create` command of one kind has. */
export interface CreateFlags {
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly name?: string;
  readonly namespace: string;
  /** Of `create` alone. */
  readonly file?: string;
  readonly output?: 'table' | 'yaml' | 'json' | 'kube-yaml';
}

/** A resource as written to a file. */
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
    .addOption(new Option('-n, --namespace <namespace>', 'namespace of the resource').default(gatewayNamespace()))
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

interface ReadResource {
  readonly key: ResourceKey;
  /** As it was written, comments included. */
  readonly text: string;
}

/**
 * Checks a new resource as the gateway would, and writes it to its own file, readable by the owner only; names the file on
 * standard error. Returns the text to print in the requested format; `table` renders it with the status that a gateway would set.
 * Throws `ERR_CLI_EXISTS` if the resource exists.
 */
export async function save(
  io: Terminal,
  resource: NewResource,
  { flags, table }: { readonly flags: CreateFlags; readonly table: (written: StatusObject) => string },
): Promise<string> {
  const text = yamlText(resource);
  const key = keyOfValid(resource.kind, text);
  const { output = flags.dryRun ? 'kube-yaml' : 'table' } = flags;
  if (flags.dryRun) return output === 'table' ? table(resource) : render(resource, output);
  const { files, state } = await saveAll(io, [{ key, text }], flags);
  // Not on standard output, which must stay parseable.
  io.err(`${shown(key)}: ${files[0]}`);
  if (output !== 'table') return render(redact(resource), output);
  return table(objectsOf(state, (each) => each === key)[0]!);
}

function keyOfValid(kind: Kind, text: string): ResourceKey {
  const { resource, issues } = validateWritten(parseDocuments(text, `${kind.toLowerCase()}.yaml`)[0]!, accessChecks);
  if (resource) return keyOf(kind, resource.metadata);
  throw cliError('ERR_CLI_USAGE', errorsIn(issues).map(lineWithoutPlace).join('; '));
}

const errorsIn = (issues: readonly Problem[]): Problem[] => issues.filter(({ severity }) => severity === 'error');

function lineWithoutPlace(issue: Problem): string {
  const { file, line, column } = issue.origin;
  return problemLine(issue).slice(`${file}:${line}:${column}  `.length);
}

function render(resource: NewResource, output: Exclude<NonNullable<CreateFlags['output']>, 'table'>): string {
  return output === 'json' ? JSON.stringify(resource, undefined, 2) : yamlText(resource);
}

/** Maximum size of a file that resources are created from, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads every resource of a file, or of standard input for `-`. Throws `ERR_CLI_USAGE` with every problem, each with its
 * place, if there is one.
 */
export async function readResources(io: Io, path: string): Promise<ReadResource[]> {
  const file = path === '-' ? 'standard input' : path;
  const text = path === '-' ? await readAll(io.stdin ?? process.stdin) : readInputFile(io, path).toString('utf8');
  if (Buffer.byteLength(text) > MAX_BYTES) throw cliError('ERR_CLI_USAGE', `${file} is larger than ${MAX_BYTES} bytes`);
  const written = parseDocuments(text, file);
  const checks = await checksFor(written.map(({ value }) => value));
  const read = written.map((document) => ({ document, ...validateWritten(document, checks) }));
  const problems = read.flatMap(({ issues, document, resource }) => {
    const errors = errorsIn(issues);
    if (errors.length > 0 || resource) return errors.map(formatIssue);
    return [`${document.origin.file}: the file contains no resource`];
  });
  const keys = read.flatMap(({ resource }) => (resource ? [keyOf(resource.kind, resource.metadata)] : []));
  const twice = keys.find((key, i) => keys.indexOf(key) !== i);
  if (twice !== undefined) problems.push(`${file}: ${shown(twice)} occurs twice`);
  if (problems.length > 0) throw cliError('ERR_CLI_USAGE', listOf(problems));
  const texts = asWritten(text, read.length);
  return read.map(({ document }, i) => ({ key: keys[i]!, text: texts?.[i] ?? yamlText(document.value) }));
}

/** Returns the documents as written if each of them is one resource; `undefined` for lists, which are split. */
function asWritten(text: string, resources: number): string[] | undefined {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return undefined;
  const used = documents.filter((document) => document.errors.length === 0 && document.toJS() !== null);
  return used.length === resources ? used.map((document) => document.toString({ lineWidth: 0 })) : undefined;
}

/** `Kind namespace/name`. */
export function shown(key: ResourceKey): string {
  return key.replace('/', ' ');
}

function listOf(problems: readonly string[]): string {
  if (problems.length === 1) return problems[0]!;
  return [`${problems.length} errors occurred:`, ...problems.map((problem) => `\t* ${problem}`)].join('\n');
}

/**
 * Writes each resource to its own file, readable by the owner only; returns the files and the directory after it. Throws `ERR_CLI_EXISTS` if one of them
 * exists already, and `ERR_CLI_REJECTED` if the gateway would reject one of them in this directory; then nothing is written.
 */
export async function saveAll(
  io: Terminal,
  resources: readonly ReadResource[],
  flags: Partial<CreateFlags>,
): Promise<{ readonly files: readonly string[]; readonly state: ControlPlaneState }> {
  const add = (draft: ResourceDraft) =>
    resources.map(({ key, text }) => draft.add(key, { text, overwrite: flags.force === true }));
  // References of a new resource may be created later.
  const { result: files, state } = await changeResources(io, flags, add, { missingReferences: true });
  return { files, state };
}
