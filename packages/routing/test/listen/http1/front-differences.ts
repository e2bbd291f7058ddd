import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Handler } from '@edge-gateway/core';
import type { ListenLimits } from '../../../src/index.ts';
import { serve, type Serving } from '../serving.ts';
import { mutated, randomRequest, seeded, type Random } from './requests.ts';

/** Everything about a connection that a client or a handler sees. */
interface Seen {
  /** What the handler received, in order. */
  readonly requests: readonly string[];
  /** What the client received. */
  readonly text: string;
}

interface Front {
  run(parts: readonly string[], pauseMs: number): Promise<Seen>;
  close(): Promise<void>;
}

const LIMITS: Partial<ListenLimits> = { closeDelayMs: 20, checkIntervalMs: 100_000 };

/** Starts a listener that reads requests in this way. */
async function startFront(http1Parser: ListenLimits['http1Parser']): Promise<Front> {
  const logs = new Map<number, string[]>();
  const handler: Handler = (req, res) => void respond(req, res, logs.get(req.socket.remotePort!)!);
  const serving: Serving = await serve(handler, { limits: { ...LIMITS, http1Parser } });
  return {
    async run(parts, pauseMs) {
      const socket = connect({ port: serving.port, host: '127.0.0.1', noDelay: true });
      let text = '';
      socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
      socket.on('error', () => {});
      const closed = new Promise((resolve) => socket.once('close', resolve));
      await new Promise((resolve) => socket.once('connect', resolve));
      const { localPort = 0 } = socket;
      const requests: string[] = [];
      logs.set(localPort, requests);
      for (const part of parts) {
        socket.write(part, 'latin1');
        // Responses depend on what arrives together.
        await wait(pauseMs);
      }
      socket.end();
      await closed;
      logs.delete(localPort);
      return { requests, text: normalized(text) };
    },
    close: () => serving.close(),
  };
}

/** Responds at once or after the body, by the path. */
async function respond(req: IncomingMessage, res: ServerResponse, log: string[]): Promise<void> {
  const { method, url, httpVersion, rawHeaders, headers } = req;
  const entry = [method, url, httpVersion, rawHeaders.join('|'), JSON.stringify(headers)];
  const index = log.push(entry.join(' ')) - 1;
  req.on('aborted', () => (log[index] += ' aborted'));
  res.on('finish', () => (log[index] += ' finish'));
  res.on('close', () => (log[index] += ' close'));
  if (url?.startsWith('/a') && !url.startsWith('/a//')) {
    res.writeHead(200, ['x-count', String(rawHeaders.length), 'content-length', '2']);
    return void res.end('ok', 'latin1');
  }
  let body = '';
  try {
    for await (const chunk of req) body += String(chunk);
  } catch (error) {
    log[index] += ` ${(error as Error).message}`;
    return;
  }
  log[index] += ` ${body} ${req.complete}`;
  if (res.destroyed) return;
  res.setHeader('x-body', body.length);
  res.write('first ');
  res.end(`last ${body}`);
}

/** Returns the text without what differs between any two responses. */
const normalized = (text: string): string =>
  text
    .replaceAll(/\r\ndate: [^\r]*/gi, '')
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'ID');

/** Returns one to four requests, some of them hostile, in parts. */
function randomParts(random: Random): string[] {
  const hostility = random.pick([0, 0, 0.05, 0.2]);
  const requests = Array.from({ length: 1 + random.integer(4) }, () => {
    const request = randomRequest(random, hostility);
    return random.chance(hostility) ? mutated(request, random) : request;
  });
  // Most clients send one request at a time.
  if (random.chance(0.5)) return requests;
  const text = requests.join('');
  const cuts = Array.from({ length: random.integer(4) }, () => random.integer(text.length + 1)).toSorted(
    (a, b) => a - b,
  );
  return [0, ...cuts].map((cut, i) => text.slice(cut, cuts[i])).filter((part) => part !== '');
}

/** Every way to send a short request in two parts. */
function splits(): string[][] {
  const requests = [
    'GET /a HTTP/1.1\r\nHost: a\r\n\r\n',
    'POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nxyz',
    'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: b\r\n\r\n',
  ];
  return requests.flatMap((text) => Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)].filter(Boolean)));
}

/** The longer pauses are for parts that arrived together on a busy machine. */
const PAUSES_MS = [3, 15, 60, 250, 2000];
const AT_ONCE = 32;

/** Serves random connections with both parsers of HTTP/1.1, and returns at most five differences. */
export async function frontDifferences(seed: number, count: number): Promise<string[]> {
  const random = seeded(seed);
  const [plain, node] = await Promise.all([startFront('plain'), startFront('node')]);
  const cases = [...splits(), ...Array.from({ length: count }, () => randomParts(random))];
  const differences: string[] = [];

  async function compare(parts: readonly string[]): Promise<void> {
    let difference = '';
    for (const pauseMs of PAUSES_MS) {
      const [own, expected] = await Promise.all([plain.run(parts, pauseMs), node.run(parts, pauseMs)]);
      if (JSON.stringify(own) === JSON.stringify(expected)) return;
      difference = JSON.stringify({ parts, own, expected }, undefined, 1);
    }
    differences.push(difference);
  }

  async function work(): Promise<void> {
    while (cases.length > 0 && differences.length < 5) await compare(cases.shift()!);
  }

  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    await Promise.all([plain.close(), node.close()]);
  }
  return differences;
}
