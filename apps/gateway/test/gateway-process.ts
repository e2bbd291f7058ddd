import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { GATEWAY } from '../../../test/parts/programs.ts';

export { until } from '../../../test/parts/until.ts';

interface Ready {
  readonly listeners: readonly { readonly name: string; readonly port: number; readonly protocol: string }[];
  readonly adminPort: number;
  readonly statsPort: number;
  /** Of the role `extauth`. */
  readonly grpcPort: number;
  readonly httpPort: number;
  /** Of the role `control-plane`. */
  readonly xdsPort: number;
  readonly validationPort: number;
}

/** Limits of the process. */
export interface ProcessLimits {
  /** Most file descriptors that it may open. */
  readonly openFiles?: number | undefined;
  /** Largest file that it may write, in blocks of 512 bytes: a full disk. */
  readonly fileBlocks?: number | undefined;
  /** Most MiB of the old generation of its heap. */
  readonly heapMb?: number | undefined;
  /** Further flags of Node.js. */
  readonly nodeFlags?: readonly string[] | undefined;
  /** Variables besides those of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** The program as a process of its own, with a directory of resources that a test writes to. */
export class GatewayProcess {
  readonly dir = mkdtempSync(join(tmpdir(), 'gateway-'));
  child!: ChildProcess;
  ready!: Ready;
  /** Where its listeners are reached. */
  host = '127.0.0.1';
  output = '';
  errors = '';
  readonly #limits: ProcessLimits;

  constructor(limits: ProcessLimits = {}) {
    this.#limits = limits;
  }

  write(file: string, text: string): void {
    const path = join(this.dir, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.tmp`, text);
    renameSync(`${path}.tmp`, path);
  }

  /** Starts it on free ports; resolves when it says that it is ready, rejects with what it printed when it ends before. */
  async start(...flags: string[]): Promise<this> {
    const ports = [
      '--http-port',
      '0',
      '--https-port',
      '0',
      '--admin-port',
      '0',
      '--stats-port',
      '0',
      '--dev-admin-port',
      '0',
    ];
    return this.startRole('all', ...ports, ...flags);
  }

  /** Starts a role in the same way, with only these flags. */
  async startRole(role: string, ...flags: string[]): Promise<this> {
    const config = role === 'proxy' || flags.includes('--kubernetes') ? [] : ['--config', this.dir];
    const keepsNothing = ['all', 'control-plane'].includes(role) && !flags.includes('--state-dir');
    const state = keepsNothing ? ['--state-dir', 'none'] : [];
    const args = [...GATEWAY, role, ...config, ...state, ...flags];
    const { openFiles, fileBlocks, heapMb, nodeFlags = [], env } = this.#limits;
    args.unshift(...nodeFlags);
    if (heapMb !== undefined) args.unshift(`--max-old-space-size=${heapMb}`);
    const limits = [openFiles && `ulimit -n ${openFiles}`, fileBlocks && `ulimit -f ${fileBlocks}`].filter(Boolean);
    const limited = ['-c', `${limits.join('; ')}; exec "$@"`, 'sh', process.execPath, ...args];
    const [program, given] = limits.length === 0 ? [process.execPath, args] : ['sh', limited];
    this.child = spawn(program, given, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: { ...process.env, ...env } });
    this.child.stdout!.on('data', (chunk) => (this.output += chunk));
    this.child.stderr!.on('data', (chunk) => (this.errors += chunk));
    await new Promise<void>((resolve, reject) => {
      this.child.on('message', (message: { ready: Ready }) => {
        this.ready = message.ready;
        resolve();
      });
      this.child.on('close', (code) => reject(new Error(`ended with ${code} before it was ready:\n${this.errors}`)));
    });
    return this;
  }

  get url(): string {
    return `http://${this.host}:${this.ready.listeners.find(({ protocol }) => protocol === 'http')!.port}`;
  }

  get admin(): string {
    return `http://127.0.0.1:${this.ready.adminPort}`;
  }

  get stats(): string {
    return `http://127.0.0.1:${this.ready.statsPort}`;
  }

  /** Resolves with the exit code. */
  ended(): Promise<number | null> {
    if (this.child.exitCode !== null) return Promise.resolve(this.child.exitCode);
    return new Promise((resolve) => this.child.once('close', (code) => resolve(code)));
  }

  async close(): Promise<void> {
    if (this.child?.pid && this.child.exitCode === null && this.child.signalCode === null) {
      const gone = this.ended();
      this.child.kill('SIGKILL');
      await gone;
    }
    rmSync(this.dir, { recursive: true, force: true });
  }
}
