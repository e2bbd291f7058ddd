import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { installed } from './apt.ts';
import { createFakeClock } from './fake-clock.ts';
import { freePort } from './free-port.ts';

/** How long a start, and an answer, may take on a busy machine. */
const START_MS = 30_000;
const ANSWER_MS = 20_000;

/** A real Redis server of one's own. */
export interface RedisServer {
  /** `host:port`. */
  readonly host: string;
  readonly port: number;
  /** `unix://path` of the same server. */
  readonly unixHost: string;
  /** `host:port` for TLS; only where it was started with certificates. */
  readonly tlsHost: string | undefined;
  readonly pid: number;
  /** Silent but connected, as a machine that hangs. */
  freeze(): void;
  thaw(): void;
  /** Ends the process; connections are refused from then on. */
  stop(): Promise<void>;
  /** Starts it again on the same address, empty. */
  start(): Promise<void>;
  /** Sets the clock of a server that was started with one, in milliseconds since the epoch. */
  setTime(nowMs: number): void;
  /** Runs a command, e.g. `['config', 'set', 'maxmemory', '1mb']`; gives the raw answer. */
  command(args: readonly string[]): Promise<string>;
  /** Ends it for good. */
  close(): Promise<void>;
}

export interface RedisServerOptions {
  readonly args?: readonly string[];
  /** Text of a configuration file, which sentinels need. */
  readonly config?: string;
  /** Password of the default user; `command` knows it. */
  readonly password?: string;
  /** Speaks TLS on a second port. */
  readonly tls?: RedisTls;
  /** Starts with a clock of its own, at this time in milliseconds since the epoch (compiled with gcc). */
  readonly nowMs?: number;
}

/** Files of certificates. */
export interface RedisTls {
  readonly cert: string;
  readonly key: string;
  /** Who signs client certificates. */
  readonly ca: string;
  /** Clients have to show a certificate. Default: `no`. */
  readonly clients?: 'yes' | 'no';
}

function tlsArgs({ cert, key, ca, clients = 'no' }: RedisTls, port: number): string[] {
  const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', ca];
  return ['--tls-port', String(port), ...files, '--tls-auth-clients', clients];
}

/** Starts a Redis server (Debian package `redis-server`, installed where it is missing) on a free port of 127.0.0.1. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const program = await installed('redis-server');
  const directory = mkdtempSync(join(tmpdir(), 'redis-'));
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', directory];
  const unixPath = join(directory, 'redis.sock');
  const tlsPort = options.tls && (await freePort());
  args.push('--unixsocket', unixPath);
  if (options.config !== undefined) {
    const file = join(directory, 'redis.conf');
    writeFileSync(file, `${options.config}\n`);
    args.unshift(file);
  }
  if (options.password) args.push('--requirepass', options.password);
  if (options.tls) args.push(...tlsArgs(options.tls, tlsPort!));
  const clock = options.nowMs === undefined ? undefined : await createFakeClock(directory, options.nowMs);
  let child: ChildProcess;

  async function start(): Promise<void> {
    child = spawn(program, [...args, ...(options.args ?? [])], {
      stdio: 'ignore',
      env: { ...process.env, ...clock?.env },
    });
    for (const giveUp = performance.now() + START_MS; performance.now() < giveUp; await wait(10)) {
      if ((await command(['ping']).catch(() => '')).includes('PONG')) return;
    }
    throw new Error('redis-server does not answer');
  }

  async function stop(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  async function command(parts: readonly string[]): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error('no answer')));
    const login = options.password ? [['auth', options.password]] : [];
    // Redis closes the connection behind the last answer, so that a long one is read to its end. Sentinels do not know the command.
    const quit = options.config === undefined ? [['quit']] : [];
    socket.write([...login, parts, ...quit].map(encoded).join(''));
    if (quit.length === 0) socket.end();
    const answers = (await text(socket)).replace(/\+OK\r\n$/, '');
    return login.length === 0 ? answers : answers.replace(/^\+OK\r\n/, '');
  }

  await start();
  return {
    setTime: (nowMs) => clock?.set(nowMs),
    host: `127.0.0.1:${port}`,
    port,
    unixHost: `unix://${unixPath}`,
    tlsHost: tlsPort === undefined ? undefined : `127.0.0.1:${tlsPort}`,
    get pid() {
      return child.pid!;
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    start,
    stop,
    command,
    async close() {
      child.kill('SIGCONT');
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function encoded(parts: readonly string[]): string {
  const words = parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  return `*${parts.length}\r\n${words.join('')}`;
}
