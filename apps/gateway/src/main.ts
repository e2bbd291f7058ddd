#!/usr/bin/env node
import { accessSync, constants, statSync } from 'node:fs';
import { createLoggers, GatewayError } from '@edge-gateway/core';
import { gatewayError } from './error-codes.ts';
import { createLogDestination } from './process/log-destination.ts';
import { startAll, type RunningGateway } from './roles/all.ts';
import { createProgram, type GatewaySettings } from './settings.ts';
import { stopOnSignals } from './process/shutdown.ts';
import { VERSION } from './process/version.ts';

async function run(settings: GatewaySettings): Promise<void> {
  const destination = createLogDestination((dropped) => main.warn({ dropped }, 'log lines dropped'));
  const log = createLoggers({ level: settings.logLevel, destination });
  const main = log.get('main');
  let gateway: RunningGateway | undefined;
  const quit = stopOnSignals(async () => {
    main.info({}, 'stopping');
    await gateway?.stop();
  });
  try {
    requireDirectory(settings.config);
    gateway = await startAll(settings, log, quit);
    const { listeners, unserved, problems, adminPort, statsPort } = gateway;
    const facts = { listeners, problems, adminPort, statsPort, config: settings.config };
    if (unserved.length === 0) main.info(facts, 'ready');
    else main.warn({ ...facts, unserved }, 'started, but not ready');
    process.send?.({ ready: { listeners, unserved, problems, adminPort, statsPort } });
  } catch (error) {
    fail(error);
  }
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

await createProgram(VERSION, run).parseAsync();
