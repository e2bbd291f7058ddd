import { text as readAll } from 'node:stream/consumers';
import { join, resolve } from 'node:path';
import { formatIssue, keyOf, parseDocuments, validateWritten, type ResourceKey } from '@edge-gateway/core';
import { parseAllDocuments } from 'yaml';
import { cliError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { yamlText } from '../output/formats.ts';
import { checksFor, loadOffline, readInputFile } from '../resources/load.ts';
import { text as textAt } from '../resources/objects.ts';
import { directoryOf, fileOf, refuseTaken, write, type TargetFlags } from './save.ts';

/** Longest file that resources are created from, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A resource of a file, ready to be written into one of its own. */
export interface ReadResource {
  readonly key: ResourceKey;
  /** As it was written, comments included. */
  readonly text: string;
}

/** The text of a file, or of standard input for `-`, and what it is called in messages. */
export async function readResources(io: Io, path: string): Promise<readonly ReadResource[]> {
  if (path === '-') return resourcesOf(await readAll(io.stdin ?? process.stdin), 'standard input');
  return resourcesOf(readInputFile(io, path).toString('utf8'), path);
}

/** Every resource of a text. Throws `ERR_CLI_USAGE` with every problem, each with its place, when there is one. */
async function resourcesOf(text: string, file: string): Promise<ReadResource[]> {
  if (Buffer.byteLength(text) > MAX_BYTES) throw cliError('ERR_CLI_USAGE', `${file} is larger than ${MAX_BYTES} bytes`);
  const written = parseDocuments(text, file);
  const checks = await checksFor(written.map(({ value }) => textAt(value, 'kind')));
  const read = written.map((document) => ({ document, ...validateWritten(document, checks) }));
  const problems = read.flatMap(({ issues, document, resource }) => {
    const errors = issues.filter(({ severity }) => severity === 'error');
    if (errors.length > 0 || resource) return errors.map(formatIssue);
    return [`${document.origin.file}: the file contains no resource`];
  });
  const keys = read.flatMap(({ resource }) => (resource ? [keyOf(resource.kind, resource.metadata)] : []));
  const twice = keys.find((key, i) => keys.indexOf(key) !== i);
  if (twice !== undefined) problems.push(`${file}: ${shown(twice)} is in it twice`);
  if (problems.length > 0) throw cliError('ERR_CLI_USAGE', listOf(problems));
  const texts = asWritten(text, read.length);
  return read.map(({ resource, document }, i) => ({
    key: keyOf(resource!.kind, resource!.metadata),
    text: texts?.[i] ?? yamlText(document.value),
  }));
}

/** Every document by itself, where each of them is one resource; lists are taken apart, which no text survives. */
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
 * Writes each resource to its own file, readable by the owner only; returns the files. Throws `ERR_CLI_EXISTS`, and nothing is
 * written, when one of them is there already.
 */
export async function saveAll(io: Io, resources: readonly ReadResource[], flags: TargetFlags): Promise<string[]> {
  const directory = directoryOf(io, flags);
  const known = (await loadOffline(io, directory)).resources;
  const files = resources.map(({ key }) => join(directory, fileOf(key)));
  for (const [i, { key }] of resources.entries()) {
    refuseTaken(io, { file: files[i]!, known: known.get(key), force: flags.force === true });
  }
  for (const [i, { text }] of resources.entries()) write(resolve(io.cwd, files[i]!), files[i]!, text);
  return files;
}
