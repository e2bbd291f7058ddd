import { execFile } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool } from 'undici';
import { ISSUER } from './forward-configs.ts';
import { grpcMessage } from './forward-peers.ts';
import type { Row } from './forward-rows.ts';

const CONNECTIONS = 32;
/** Verifying a signature takes longer than anything else, so that few requests suffice. */
const TOKENS = 2000;

const run = promisify(execFile);
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** The keys of the tokens that are sent. */
export const KEY_SET = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256' }] });

/** What a load consisted of. */
export interface Sent {
  readonly requests: number;
  /** In milliseconds, where the tool measures it. */
  readonly p99?: number | undefined;
}

/** Sends requests from the second core. Creates its files in `directory`. */
export function createLoad(directory: string, seconds: number) {
  const files = { body: (bytes: number) => join(directory, `body-${bytes}`), message: join(directory, 'message') };
  writeFileSync(files.message, grpcMessage());
  let signed = 0;
  let tokens: string[] = [];

  function token(): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const input = `${part({ alg: 'RS256', kid: 'k' })}.${part({ iss: ISSUER, jti: String(signed++), exp: 4e9 })}`;
    return `${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`;
  }

  async function handshakes(isNew: boolean, port: number): Promise<Sent> {
    const reuse = isNew ? ['-new'] : ['-reuse', '-tls1_2'];
    const time = ['-time', String(Math.ceil(seconds))];
    const output = await onSecondCore('openssl', ['s_time', '-connect', `127.0.0.1:${port}`, ...reuse, ...time]);
    return { requests: numberIn(output, /(\d+) connections in \d+ real seconds/) };
  }

  async function h2load(row: Row, url: string): Promise<Sent> {
    const grpc = ['-d', files.message, '-H', 'content-type: application/grpc', '-H', 'te: trailers'];
    const { bytes = 1024 } = row;
    if (row.method && !existsSync(files.body(bytes))) writeFileSync(files.body(bytes), 'p'.repeat(bytes));
    const body = row.tool === 'grpc' ? grpc : row.method ? ['-d', files.body(bytes)] : [];
    const connections = isLarge(row) ? ['-c', '8', '-m', '1'] : ['-c', String(CONNECTIONS), '-m', '10'];
    const output = await onSecondCore('h2load', [...connections, ...body, '-D', String(seconds), url]);
    if (!output.includes('Application protocol: h2')) throw new Error(`${row.label}: not HTTP/2\n${output}`);
    return { requests: numberIn(output, /(\d+) 2xx/) };
  }

  async function wrk({ label, path, method, host, closes, status = 200, ...row }: Row, url: string): Promise<Sent> {
    const { bytes = 1024 } = row;
    const script = join(directory, `${method ?? 'GET'}-${bytes}-${status}.lua`);
    const lines = [
      ...(method ? [`wrk.method = "${method}"`, `wrk.body = string.rep("p", ${bytes})`] : []),
      'wrong = 0',
      `response = function(s) if s ~= ${status} then wrong = wrong + 1 end end`,
      'local threads = {}',
      'setup = function(t) table.insert(threads, t) end',
      'done = function(summary, latency) print("p99: " .. latency:percentile(99))',
      'for _, t in ipairs(threads) do print("wrong responses: " .. t:get("wrong")) end end',
    ];
    if (!existsSync(script)) writeFileSync(script, lines.join('\n'));
    const connections = row.connections ?? (isLarge({ path, bytes }) ? 8 : CONNECTIONS);
    const headers = ['-H', `Host: ${host ?? 'localhost'}`, ...(closes ? ['-H', 'Connection: close'] : [])];
    const duration = Math.max(seconds, row.seconds ?? 0);
    const base = ['-t', '1', '-c', String(connections), '-d', `${duration}s`, '-s', script, ...headers];
    const output = await onSecondCore('wrk', [...base, url]);
    if (numberIn(output, /wrong responses: (\d+)/) > 0) throw new Error(`${label}: wrong status\n${output}`);
    return { requests: numberIn(output, /(\d+) requests in/), p99: numberIn(output, /p99: (\d+)/) / 1000 };
  }

  /** Each token of this round once. */
  async function sendTokens({ path }: Row, origin: string): Promise<Sent> {
    const pool = new Pool(origin, { connections: CONNECTIONS });
    let next = 0;
    const send = async (): Promise<void> => {
      while (next < tokens.length) {
        const headers = { authorization: `Bearer ${tokens[next++]}` };
        const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
        await body.dump();
        if (statusCode !== 200) throw new Error(`${path}: responded ${statusCode}`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, send));
    await pool.destroy();
    return { requests: tokens.length };
  }

  return {
    /** Creates what a round of this row sends. */
    prepare({ tool }: Row): void {
      if (tool === 'tokens') tokens = Array.from({ length: TOKENS }, token);
    },
    /** Throws if a response has another status than the one of the row. */
    async send(row: Row, port: number): Promise<Sent> {
      const origin = `${row.port === 'secure' ? 'https' : 'http'}://127.0.0.1:${port}`;
      const url = origin + row.path;
      if (row.tool === 'handshakes' || row.tool === 'resumptions') return handshakes(row.tool === 'handshakes', port);
      if (row.tool === 'tokens') return sendTokens(row, origin);
      return row.tool === 'h2load' || row.tool === 'grpc' ? h2load(row, url) : wrk(row, url);
    },
  };
}

const isLarge = ({ path, bytes = 0 }: Pick<Row, 'path' | 'bytes'>): boolean => path.endsWith('1m') || bytes > 100_000;

/** Runs a tool on the second core; returns its output. */
async function onSecondCore(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run('taskset', ['-c', '1', program, ...args], { maxBuffer: 10_000_000 });
  return stdout;
}

function numberIn(output: string, pattern: RegExp): number {
  const found = pattern.exec(output);
  if (!found) throw new Error(`unexpected output: ${output}`);
  return Number(found[1]);
}
