import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { formatIssue, parseDocuments } from '@edge-gateway/core';
import type { Command } from 'commander';
import { addExamples, exitStatus } from '../command-line/command-help.ts';
import { canonicalText } from '../edit/canonical.ts';
import { replaceFile } from '../edit/replace-file.ts';
import { cliError } from '../error-codes.ts';
import { count } from '../output/problem-lines.ts';
import type { Terminal } from '../output/terminal.ts';
import { readInputFile } from '../resources/input-file.ts';

/** `fmt PATH...`: writes resources in their canonical form. */
export function addFmt(program: Command, io: Terminal): void {
  const command = program
    .command('fmt')
    .description('Format resource files; values and comments stay the same.')
    .argument('<path...>', 'files, and directories of *.yaml, *.yml and *.json; - formats standard input')
    .option('--check', 'only list the files that are not formatted; exit status 1 if there are any');
  addExamples(command, [
    ['gatewayctl fmt ./resources', 'prints the files that it changed'],
    ['gatewayctl fmt --check ./resources', 'for CI'],
  ]);
  command.action(async (paths: readonly string[]) => {
    const { check = false } = command.opts<{ check?: boolean }>();
    if (paths.includes('-')) {
      if (paths.length > 1) throw cliError('ERR_CLI_USAGE', '- cannot be combined with other paths');
      return formatInput(io, check);
    }
    const outcome = formatFiles(io, filesIn(io, paths), check);
    report(io, outcome, check);
  });
}

async function formatInput(io: Terminal, check: boolean): Promise<void> {
  const text = await readAll(io.stdin ?? process.stdin);
  const problems = problemsOf(text, 'standard input');
  if (problems.length > 0) throw cliError('ERR_CLI_USAGE', problems.join('\n'));
  const formatted = canonicalText(text, 'standard input');
  if (!check) io.write(formatted);
  else if (formatted !== text) throw exitStatus(1);
}

function filesIn(io: Terminal, paths: readonly string[]): string[] {
  const files = paths.flatMap((path) => {
    const isDirectory = fs.statSync(resolve(io.cwd, path), { throwIfNoEntry: false })?.isDirectory() ?? false;
    const found = () => fs.globSync('**/*.{yaml,yml,json}', { cwd: resolve(io.cwd, path), withFileTypes: true });
    if (!isDirectory) return [path];
    const names = found().filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'));
    const root = resolve(io.cwd, path);
    return names.map((entry) => join(path, join(entry.parentPath, entry.name).slice(root.length))).sort();
  });
  return [...new Set(files)];
}

interface Outcome {
  readonly files: number;
  readonly changed: readonly string[];
  readonly problems: readonly string[];
}

function formatFiles(io: Terminal, files: readonly string[], check: boolean): Outcome {
  const changed: string[] = [];
  const problems: string[] = [];
  for (const file of files) {
    const text = readInputFile(io, file).toString('utf8');
    const found = problemsOf(text, file);
    problems.push(...found);
    if (found.length > 0) continue;
    const formatted = canonicalText(text, file);
    if (formatted === text) continue;
    changed.push(file);
    if (!check) replaceFile(resolve(io.cwd, file), formatted, { shown: file });
  }
  return { files: files.length, changed, problems };
}

/** Files with syntax errors are not changed. Empty files and byte order marks are allowed. */
function problemsOf(text: string, file: string): string[] {
  const issues = parseDocuments(text.replace(/^\uFEFF/, ''), file).flatMap((each) => each.issues);
  return issues.filter(({ severity, code }) => severity === 'error' && code !== 'EMPTY_FILE').map(formatIssue);
}

function report(io: Terminal, { files, changed, problems }: Outcome, check: boolean): void {
  for (const file of changed) io.out(file);
  for (const problem of problems) io.err(io.colors.red(problem));
  const what = check ? 'not formatted' : 'formatted';
  io.err(
    `${count(files, 'file')}, ${changed.length} ${what}${problems.length > 0 ? `, ${problems.length} with errors` : ''}`,
  );
  if (problems.length > 0 || (check && changed.length > 0)) throw exitStatus(1);
}
