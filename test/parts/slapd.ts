import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { installed } from './apt.ts';
import type { Certificates } from './certificates.ts';
import { freePort } from './free-port.ts';

const run = promisify(execFile);
const START_MS = 30_000;
/** Where Debian installs servers; not always on the `PATH`. */
const SBIN = '/usr/sbin';

/** The suffix of the directory. */
export const SUFFIX = 'dc=example,dc=com';

/** A real OpenLDAP server of one's own. */
export interface Slapd {
  /** `host:port`. */
  readonly address: string;
  /** `ldaps://host:port`; only where it was started with certificates. */
  readonly tlsAddress: string | undefined;
  /** Silent but connected, as a machine that hangs. */
  freeze(): void;
  thaw(): void;
  /** Ends the process; connections are refused from then on. */
  stop(): Promise<void>;
  /** Starts it again on the same address with the same entries; nothing if it runs. */
  start(): Promise<void>;
  /** Number of connections that are established. */
  connections(): Promise<number>;
  /** Ends it for good. */
  close(): Promise<void>;
}

export interface SlapdOptions {
  /** Entries below {@link SUFFIX}, which exists, as LDIF. */
  readonly entries: string;
  /** Lines of `slapd.conf` for the database, such as access rules. */
  readonly config?: string;
  readonly tls?: Certificates;
}

/** Starts an OpenLDAP server (Debian package `slapd`, installed where it is missing) on a free port of 127.0.0.1. */
export async function startSlapd({ entries, config = '', tls }: SlapdOptions): Promise<Slapd> {
  process.env.PATH = `${process.env.PATH}:${SBIN}`;
  const program = await installed('slapd');
  const directory = mkdtempSync(join(tmpdir(), 'slapd-'));
  const file = join(directory, 'slapd.conf');
  mkdirSync(join(directory, 'data'));
  writeFileSync(file, configOf(directory, config, tls));
  const base = `dn: ${SUFFIX}\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example\n\n`;
  writeFileSync(join(directory, 'entries.ldif'), base + entries);
  const port = await freePort();
  const tlsPort = tls && (await freePort());
  const urls = [`ldap://127.0.0.1:${port}`, ...(tlsPort === undefined ? [] : [`ldaps://127.0.0.1:${tlsPort}`])];
  let child: ChildProcess | undefined;

  const isRunning = (): boolean => child?.exitCode === null && child.signalCode === null;

  async function start(): Promise<void> {
    if (isRunning()) return;
    child = spawn(program, ['-d', '0', '-f', file, '-h', urls.join(' ')], { stdio: 'ignore' });
    for (const giveUp = performance.now() + START_MS; performance.now() < giveUp; await wait(10)) {
      if (await accepts(port)) return;
      if (child.exitCode !== null) throw new Error(`slapd ended with ${child.exitCode}`);
    }
    throw new Error('slapd does not start');
  }

  async function stop(): Promise<void> {
    if (!isRunning()) return;
    const gone = once(child!, 'exit');
    child!.kill('SIGCONT');
    child!.kill('SIGTERM');
    await gone;
  }

  await start();
  const add = await installed('ldapadd', 'ldap-utils');
  const login = ['-x', '-H', urls[0]!, '-D', `cn=admin,${SUFFIX}`, '-w', 'admin'];
  await run(add, [...login, '-f', join(directory, 'entries.ldif')]);
  return {
    address: `127.0.0.1:${port}`,
    tlsAddress: tlsPort === undefined ? undefined : `ldaps://127.0.0.1:${tlsPort}`,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    start,
    stop,
    async connections() {
      const { stdout } = await run('ss', ['-Htn', 'state', 'established', `sport = :${port}`]);
      return stdout.split('\n').filter((line) => line.trim() !== '').length;
    },
    async close() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function configOf(directory: string, config: string, tls: Certificates | undefined): string {
  const schemas = ['core', 'cosine', 'inetorgperson'].map((name) => `include /etc/ldap/schema/${name}.schema`);
  const files = tls
    ? [`TLSCACertificateFile ${tls.ca}`, `TLSCertificateFile ${tls.cert}`, `TLSCertificateKeyFile ${tls.key}`]
    : [];
  return [
    ...schemas,
    ...files,
    'modulepath /usr/lib/ldap',
    'moduleload back_mdb',
    'moduleload memberof',
    `pidfile ${directory}/slapd.pid`,
    'database mdb',
    `suffix "${SUFFIX}"`,
    `rootdn "cn=admin,${SUFFIX}"`,
    'rootpw admin',
    `directory ${directory}/data`,
    'overlay memberof',
    config,
    '',
  ].join('\n');
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('error', () => resolve(false));
  });
}
