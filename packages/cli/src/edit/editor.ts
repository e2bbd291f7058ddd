import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cliError } from '../error-codes.ts';
import type { Io } from '../io.ts';

const DEFAULT_EDITOR = 'vi';

/** A text that the user has edited. */
export interface EditedText {
  readonly text: string;
  /** The file that contains it, readable by the owner only. */
  readonly file: string;
  /** Removes the file. */
  discard(): void;
}

/** Opens a text in `$EDITOR` and returns it after the editor has exited. Throws `ERR_CLI_EDITOR` if the editor fails. */
export async function editText(io: Io, text: string, name: string): Promise<EditedText> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewayctl-'));
  const file = join(folder, name);
  writeFileSync(file, text, { mode: 0o600 });
  const discard = () => rmSync(folder, { recursive: true, force: true });
  try {
    await runEditor(io, file);
    return { text: readFileSync(file, 'utf8'), file, discard };
  } catch (error) {
    discard();
    throw error;
  }
}

/** The variable may contain arguments, so a shell has to split it. */
async function runEditor(io: Io, file: string): Promise<void> {
  const editor = io.env['EDITOR'] || DEFAULT_EDITOR;
  const isDirect = io.stdout === process.stdout;
  const stdio = isDirect ? 'inherit' : 'ignore';
  const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { cwd: io.cwd, env: { ...io.env }, stdio });
  // The editor shares the terminal and handles Ctrl-C itself.
  const ignore = () => {};
  process.on('SIGINT', ignore);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (code === 0) return;
    const how = code === null ? `by ${signal}` : `with status ${code}`;
    throw cliError('ERR_CLI_EDITOR', `editor "${editor}" exited ${how}; nothing was changed`);
  } finally {
    process.off('SIGINT', ignore);
  }
}
