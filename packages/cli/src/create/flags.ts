import { cliError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { readInputFile } from '../resources/input-file.ts';

/** The flags of a call, with the names of commander: `--client-id` is `clientId`. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** The content of a new secret. */
export interface SecretContent {
  readonly data: Readonly<Record<string, string | Buffer>>;
  readonly labels?: Record<string, string>;
  /** A generated value, to be shown to the user. */
  readonly generated?: string;
}

/** Returns the value of a flag such as `client-id`; `undefined` if it is not given. */
export function valueOf(flags: Flags, flag: string): string | undefined {
  const value = flags[flag.replaceAll(/-[a-z]/g, (part) => part[1]!.toUpperCase())];
  return typeof value === 'string' ? value : undefined;
}

/** Returns the value of a required flag. */
export function needed(flags: Flags, flag: string): string {
  const value = valueOf(flags, flag);
  if (!value) throw cliError('ERR_CLI_USAGE', `missing --${flag}`);
  return value;
}

/** Returns the value of a flag, or of the file of `--<flag>-file`, without its last line break. One of them is required. */
export function valueOrFile(io: Io, flags: Flags, flag: string): string {
  const [value, file] = [valueOf(flags, flag), valueOf(flags, `${flag}-file`)];
  if (value !== undefined && file !== undefined) {
    throw cliError('ERR_CLI_USAGE', `--${flag} and --${flag}-file cannot be combined`);
  }
  const content = file === undefined ? value : readFlagFile(io, `${flag}-file`, file).toString('utf8');
  const text = file === undefined ? content : content?.replace(/\r?\n$/, '');
  if (text === undefined || text === '') throw cliError('ERR_CLI_USAGE', `missing --${flag} or --${flag}-file`);
  return text;
}

/** Maximum size of a file that a flag names, in bytes. */
const MAX_BYTES = 1_048_576;

/** A file that a flag names; `ERR_CLI_FILE` if it cannot be read, `ERR_CLI_USAGE` if it is empty or too long. */
export function readFlagFile(io: Io, flag: string, path: string): Buffer {
  const content = readInputFile(io, path);
  if (content.length === 0) throw cliError('ERR_CLI_USAGE', `--${flag}: ${path} is empty`);
  if (content.length > MAX_BYTES)
    throw cliError('ERR_CLI_USAGE', `--${flag}: ${path} is larger than ${MAX_BYTES} bytes`);
  return content;
}

/**
 * Reads a value of the form `a=1,b=2`. A comma in a value is written `\,`. Rejects a pair without `=`, an empty name, and
 * a name that appears twice. With `names`, a name without `=` has an empty value.
 */
export function pairsOf(flags: Flags, flag: string, allow?: 'names'): Record<string, string> | undefined {
  const pairs = new Map<string, string>();
  const written = valueOf(flags, flag);
  for (const piece of written?.split(/(?<!\\),/) ?? []) {
    const found = piece.indexOf('=');
    const at = found < 0 && allow === 'names' ? piece.length : found;
    const name = piece.slice(0, at).trim();
    if (at < 0 || name === '') throw cliError('ERR_CLI_USAGE', `--${flag} must have the form name=value,name=value`);
    if (pairs.has(name)) throw cliError('ERR_CLI_USAGE', `--${flag} names ${name} twice`);
    pairs.set(name, piece.slice(at + 1).replaceAll('\\,', ','));
  }
  return written === undefined ? undefined : Object.fromEntries(pairs);
}
