import { accessSync, constants, statSync } from 'node:fs';
import {
  createLineSink,
  createLoggers,
  DEFAULT_NAMESPACE,
  GatewayError,
  protectHttp2,
  readableLine,
  setGatewayNamespace,
  type Loggers,
} from '@edge-gateway/core';
import type { DestinationStream } from 'pino';
import { rejectOptionsKeptByNpm } from '../command-line/npm-options.ts';
import { createProgram, type Run } from '../command-line/program.ts';
import type { ConfiguredSettings, RunningRole } from '../command-line/role.ts';
import { gatewayError } from '../error-codes.ts';
import { stopOnSignals } from '../shutdown.ts';

const run: Run = async (settings, start) => {
  protectHttp2();
  setGatewayNamespace(settings.namespace ?? DEFAULT_NAMESPACE);
  const destination = logDestination((dropped) => main.warn({ dropped }, 'log lines dropped'));
  const log = createLoggers({
    level: settings.logLevel,
    ...(settings.componentLogLevel && { levels: settings.componentLogLevel }),
    destination,
  });
  const main = log.get('main');
  let role: RunningRole | undefined;
  const quit = stopOnSignals(async () => {
    reportStop(log, settings.drainSeconds);
    await role?.stop();
  });
  try {
    const { config }: Partial<ConfiguredSettings> = settings;
    if (config !== undefined) requireDirectory(config);
    role = await start(settings, { log, quit });
    const { facts, details, isReady, whenReady } = role;
    const shown = (now: typeof facts) => ({ ...now, ...(config !== undefined && { config }) });
    if (isReady) main.info(shown(facts), 'ready');
    else main.warn(shown(facts), 'started, but not ready');
    void whenReady?.then((now) => {
      main.info(shown(now), 'ready');
      process.send?.({ ready: now });
    });
    process.send?.({ ready: { ...facts, ...details } });
  } catch (error) {
    fail(error);
  }
};

/**
 * Returns the destination of the program's log, standard error. On a terminal lines are readable text and written immediately; otherwise
 * they are collected and written off the event loop, at the latest when the process exits. `onDropped` receives the number of lines
 * dropped because the reader was too slow.
 */
function logDestination(onDropped: (lines: number) => void): DestinationStream {
  const { stderr } = process;
  if (stderr.isTTY) return { write: (line) => void stderr.write(readableLine(line, { colors: stderr.hasColors() })) };
  const sink = createLineSink('/dev/stderr', { onDropped });
  return { write: (line) => sink.write(line) };
}

/** Logs that the program stops. On a terminal, the line says how to stop at once, and is printed at every log level. */
function reportStop(log: Loggers, drainSeconds: number): void {
  if (!process.stderr.isTTY) return log.get('main').info({ drainSeconds }, 'stopping');
  const text = `draining, up to ${drainSeconds} s; press Ctrl-C again to stop now`;
  if (['info', 'debug', 'trace'].includes(log.level('main'))) log.get('main').info({}, text);
  else process.stderr.write(`${text}\n`);
}

/** Prints why the gateway failed to start, and ends the process. */
function fail(error: unknown): never {
  const known = error instanceof GatewayError;
  if (known) console.error(`The gateway cannot start: ${error.message}`);
  else console.error('The gateway cannot start because of an unexpected error. Please report it:\n', error);
  process.exit(1);
}

function requireDirectory(dir: string): void {
  const configError = (what: string): GatewayError => gatewayError('ERR_GATEWAY_CONFIG', `--config ${dir}: ${what}.`);
  const stat = statSync(dir, { throwIfNoEntry: false });
  if (!stat) throw configError('directory does not exist');
  if (!stat.isDirectory()) throw configError('is a file: pass the directory that contains the resources');
  try {
    accessSync(dir, constants.R_OK | constants.X_OK);
  } catch {
    throw configError('permission denied');
  }
}

/** Starts the role that the command line of this process asks for. */
export async function startProgram(): Promise<void> {
  const program = createProgram(run);
  rejectOptionsKeptByNpm(program, process.argv.slice(2));
  await program.parseAsync();
}
