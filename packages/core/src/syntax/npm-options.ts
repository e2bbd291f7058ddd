/** An option of a program. */
export interface ProgramOption {
  /** As in the help, e.g. `-c, --config <dir>`. */
  readonly flags: string;
  /** Its long form, e.g. `--config`. */
  readonly long?: string | undefined;
}

/** Options that npm has too, or once had: their variables may come from its own configuration, such as the proxy of a company. */
const ALSO_OF_NPM: ReadonlySet<string> = new Set([
  '--all',
  '--description',
  '--dry-run',
  '--force',
  '--global',
  '--json',
  '--key',
  '--long',
  '--name',
  '--proxy',
  '--read-only',
  '--shell',
  '--user',
  '--username',
  '--version',
  '--yes',
]);

/** Values that are shown; others may contain a password. */
const PLAIN_VALUE = /^[\w./,:-]+$/;

/**
 * Returns an error message if npm kept options that were meant for a script: without `--` before them, npm passes options only as
 * variables. `words` are the words of the program before its options. Returns `undefined` if npm did not start this process.
 */
export function optionsKeptByNpm(
  options: Iterable<ProgramOption>,
  env: Readonly<Record<string, string | undefined>>,
  words: readonly string[] = [],
): string | undefined {
  const { npm_command: command, npm_lifecycle_event: script = '', npm_config_user_agent: agent = '' } = env;
  const isRun = command === 'run-script' || command === 'run' || command === 'start';
  if (!isRun || !agent.startsWith('npm/')) return undefined;
  const all = [...options];
  const names = new Set(all.map(({ long }) => long));
  const kept = new Map<string, string>();
  for (const { flags, long } of all) {
    const value = long && !ALSO_OF_NPM.has(long) && env[variableOf(long)];
    // A secret can also be given in a file.
    if (value) kept.set(long, withValue(long, flags, names.has(`${long}-file`) ? '' : value));
  }
  if (kept.size === 0) return undefined;
  const call = command === 'start' ? 'npm start' : `npm run ${script}`;
  const written = [call, '--', ...words, ...kept.values()].join(' ');
  return `npm kept ${[...kept.keys()].join(' and ')} for itself: write -- before the options, as in ${written}`;
}

const variableOf = (long: string): string => `npm_config_${long.slice(2).replaceAll('-', '_').toLowerCase()}`;

/** Without an equals sign, the value of an unknown option is `true` for npm, and the real one is an argument. */
function withValue(long: string, flags: string, value: string): string {
  const placeholder = /<[^>]*>$|\[[^\]]*\]$/.exec(flags)?.[0];
  if (placeholder === undefined) return long;
  return `${long} ${value === 'true' || !PLAIN_VALUE.test(value) ? placeholder : value}`;
}
