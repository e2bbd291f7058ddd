import { cliError } from '../error-codes.ts';

/**
 * Reads a flag of the form `a=1,b=2`. A comma in a value is written `\,`. Rejects a pair without `=`, an empty name, and
 * a name that appears twice.
 */
export function readPairs(flag: string, text: string): Record<string, string> {
  const pairs = new Map<string, string>();
  for (const piece of text.split(/(?<!\\),/)) {
    const at = piece.indexOf('=');
    const name = piece.slice(0, at).trim();
    if (at < 0 || name === '') throw cliError('ERR_CLI_USAGE', `--${flag} is written name=value,name=value`);
    if (pairs.has(name)) throw cliError('ERR_CLI_USAGE', `--${flag} names ${name} twice`);
    pairs.set(name, piece.slice(at + 1).replaceAll('\\,', ','));
  }
  return Object.fromEntries(pairs);
}
