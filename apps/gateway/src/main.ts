#!/usr/bin/env node
import { statSync } from 'node:fs';
import { createLoggers, GatewayError } from '@edge-gateway/core';
import { createLogDestination } from './log-destination.ts';
import { startAll, type RunningGateway } from './roles/all.ts';
import { createProgram, type GatewaySettings } from './settings.ts';
import { stopOnSignals } from './shutdown.ts';
import { VERSION } from './version.ts';

async function run(settings: GatewaySettings): Promise<void> {
  const destination = createLogDestination((dropped) => main.warn({ dropped }, 'log lines were dropped'));
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
    const { listeners, adminPort, statsPort } = gateway;
    main.info({ listeners, adminPort, statsPort, config: settings.config }, 'ready');
    process.send?.({ ready: { listeners, adminPort, statsPort } });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}

function requireDirectory(dir: string): void {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new GatewayError(`--config ${dir}: there is no such directory.`, { code: 'ERR_GATEWAY_CONFIG' });
}

await createProgram(VERSION, run).parseAsync();
