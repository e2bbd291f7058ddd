import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readRegularFile } from '@edge-gateway/core';
import { cliError, fileError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { parseYamlText } from '../resources/yaml-text.ts';
import { didYouMean } from './command-help.ts';

/** Preferences of the user of gatewayctl. */
export interface Preferences {
  /** Maximum time of `check` in seconds; 0 is no limit. */
  readonly checkTimeoutSeconds: number;
  /** Maximum time to read a secret of a cluster in seconds; it has no effect without one. */
  readonly secretClientTimeoutSeconds: number;
}

const DEFAULTS: Preferences = { checkTimeoutSeconds: 0, secretClientTimeoutSeconds: 30 };
const MAX_SECONDS = 86_400;
const MAX_BYTES = 1024 * 1024;

/** Returns the path of the configuration file; `undefined` if the home directory is unknown. */
function configFileOf({ env, cwd }: Io): string | undefined {
  const { GATEWAYCTL_CONFIG_FILE: file, HOME: home } = env;
  if (file) return resolve(cwd, file);
  return home ? join(home, '.gw', 'gatewayctl-config.yaml') : undefined;
}

/**
 * Reads the configuration file, `~/.gw/gatewayctl-config.yaml` or that of `GATEWAYCTL_CONFIG_FILE`. A missing one is
 * created with the defaults. Throws `ERR_CLI_FILE` if it is invalid, or if that of `GATEWAYCTL_CONFIG_FILE` is unreadable.
 */
export function readPreferences(io: Io): Preferences {
  const file = configFileOf(io);
  if (file === undefined) return DEFAULTS;
  let text: string;
  try {
    text = readRegularFile(file, MAX_BYTES).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') createConfigFile(file);
    // The home directory may belong to another user: `HOME` often survives a change of user.
    else if (io.env['GATEWAYCTL_CONFIG_FILE']) throw fileError(file, error);
    return DEFAULTS;
  }
  return parsePreferences(text, file);
}

/** A read-only home directory is not an error: the defaults are used. */
function createConfigFile(file: string): void {
  const lines = Object.entries(DEFAULTS).map(([key, value]) => `${key}: ${value}\n`);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    writeFileSync(file, lines.join(''), { flag: 'wx', mode: 0o644 });
  } catch {
    // Another call may have created it at the same time.
  }
}

function parsePreferences(text: string, file: string): Preferences {
  const value = parseYamlText(text, file, 'ERR_CLI_FILE') ?? {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw cliError('ERR_CLI_FILE', `${file}: the file must be an object`);
  const known = Object.keys(DEFAULTS);
  for (const [key, seconds] of Object.entries(value as object)) {
    if (!known.includes(key)) {
      const hint = didYouMean(key, known) || `; allowed are ${known.join(', ')}`;
      throw cliError('ERR_CLI_FILE', `${file}: unknown key ${key}${hint}`);
    }
    if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds < 0 || seconds > MAX_SECONDS) {
      const text = `${file}: ${key} must be a number of seconds from 0 to ${MAX_SECONDS}, not ${JSON.stringify(seconds)}`;
      throw cliError('ERR_CLI_FILE', text);
    }
  }
  return { ...DEFAULTS, ...(value as Partial<Preferences>) };
}
