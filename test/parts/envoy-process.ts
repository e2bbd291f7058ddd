import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { installedEnvoy } from './envoy.ts';

const START_MS = 20_000;

/** A process of Envoy that is ready. */
export interface EnvoyProcess {
  /** The ports that it listens on, by the name of the listener. */
  readonly ports: ReadonlyMap<string, number>;
  /** `host:port` of its admin server. */
  readonly admin: string;
  readonly pid: number;
  close(): Promise<void>;
}

/** Starts Envoy with a bootstrap configuration, and waits for its listeners; the suffix of the file names its format. Throws what it prints if it rejects it. */
export async function startEnvoyProcess(
  text: string,
  file: 'envoy.json' | 'envoy.yaml',
  listeners: number | (() => number) = 1,
): Promise<EnvoyProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'envoy-'));
  const config = join(directory, file);
  const adminFile = join(directory, 'admin');
  writeFileSync(config, text);
  const args = ['-c', config, '--admin-address-path', adminFile, '--disable-hot-restart'];
  const child = spawn(
    await installedEnvoy(),
    [...args, '--concurrency', '1', '--log-level', 'error', '--file-flush-interval-msec', '20'],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += chunk));
  const close = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(directory, { recursive: true, force: true });
  };
  const giveUp = Date.now() + START_MS;
  for (;;) {
    const admin = existsSync(adminFile) ? readFileSync(adminFile, 'utf8') : '';
    const ports =
      admin === '' ? undefined : await portsOf(admin, typeof listeners === 'number' ? listeners : listeners());
    if (ports) return { ports, admin, pid: child.pid!, close };
    if (child.exitCode !== null || Date.now() > giveUp) {
      await close();
      throw new Error(`Envoy does not serve:\n${errors}`);
    }
    await wait(25);
  }
}

/** Returns the port of each listener once Envoy serves all of them. */
async function portsOf(admin: string, count: number): Promise<ReadonlyMap<string, number> | undefined> {
  const ready = await fetch(`http://${admin}/ready`).catch(() => undefined);
  if (ready?.status !== 200) return undefined;
  const response = await fetch(`http://${admin}/listeners?format=json`);
  const { listener_statuses: statuses = [] } = (await response.json()) as { listener_statuses?: ListenerStatus[] };
  const ports = new Map(statuses.map(({ name, local_address }) => [name, local_address.socket_address.port_value]));
  return ports.size === count ? ports : undefined;
}

interface ListenerStatus {
  readonly name: string;
  readonly local_address: { readonly socket_address: { readonly port_value: number } };
}
