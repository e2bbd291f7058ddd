import { expect } from 'chai';
import type { Socket } from 'node:net';
import { Agent, request } from 'undici';
import { createContext, type CallUpstream } from '@edge-gateway/core';
import { createUpstreamCaller } from '../../src/upstream/call.ts';
import { createUpstreams } from '../../src/upstream/upstreams.ts';
import { closeAll, rawUpstream, snapshotOf, whenDone } from '../forward/harness.ts';

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'trailer', 'te', 'upgrade']);

/** What a client makes of an answer; `undefined` where it refuses it. */
type Taken =
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }
  | undefined;

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Random = ReturnType<typeof createRandom>;

const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)]!;

/** An answer as a server may well send it. */
function goodAnswer(random: Random): string {
  const status = pick(random, [200, 200, 200, 201, 204, 206, 301, 304, 400, 404, 500, 503]);
  const body = 'abc \r\n;0'.repeat(random(pick(random, [1, 3, 40, 9000])));
  const lines = Array.from(
    { length: random(6) },
    (_, i) =>
      `${pick(random, ['X-A', 'set-cookie', 'etag', `x-${i}`])}:${pick(random, ['', ' ', '\t '])}${pick(random, ['', 'v', 'a b', '"q"', '\xe9'])}${pick(random, ['', ' '])}`,
  );
  const framing = status === 204 || status === 304 ? 'none' : pick(random, ['length', 'chunked', 'close']);
  if (framing === 'length')
    lines.splice(random(lines.length + 1), 0, `${pick(random, ['content-length', 'Content-Length'])}: ${body.length}`);
  if (framing === 'chunked')
    lines.splice(random(lines.length + 1), 0, `Transfer-Encoding: ${pick(random, ['chunked', 'Chunked'])}`);
  if (framing === 'close' || random(4) === 0) lines.push(`Connection: ${pick(random, ['close', 'Close'])}`);
  const interim = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(random(3));
  const head = `${interim}HTTP/1.1 ${status} ${pick(random, ['OK', '', 'Some Reason'])}\r\n${lines.join('\r\n')}${lines.length > 0 ? '\r\n' : ''}\r\n`;
  if (framing === 'none') return head;
  return head + (framing === 'chunked' ? inChunks(random, body) : body);
}

function inChunks(random: Random, body: string): string {
  let text = '';
  for (let at = 0; at < body.length;) {
    const size = 1 + random(Math.min(body.length - at, 5000));
    text += `${size.toString(16)}${pick(random, ['', ';x=y'])}\r\n${body.slice(at, at + size)}\r\n`;
    at += size;
  }
  return `${text}0\r\n${pick(random, ['', 'x-trailer: 1\r\n'])}\r\n`;
}

function mutated(random: Random, text: string): string {
  const at = random(Math.min(text.length, 300));
  const bytes = pick(random, [
    '\r',
    '\n',
    '\0',
    ' ',
    ':',
    ';',
    'f',
    '-',
    '\r\n',
    '\r\n\r\n',
    'content-length: 3\r\n',
    '\xff',
  ]);
  return text.slice(0, at) + bytes + text.slice(at + random(3));
}

/** Sends a text in pieces, then closes. */
function sendInPieces(random: Random, socket: Socket, text: string): void {
  const cuts = Array.from({ length: random(4) }, () => random(text.length)).sort((a, b) => a - b);
  const pieces = [0, ...cuts].map((cut, i) => text.slice(cut, cuts[i]));
  const next = (): void => {
    const piece = pieces.shift();
    if (socket.destroyed) return;
    if (piece === undefined) socket.end();
    else socket.write(piece, 'latin1', () => setImmediate(next));
  };
  next();
}

describe('the HTTP/1.1 client of upstreams, beside another one', () => {
  afterEach(closeAll);

  let answer = '';
  let seed = 0;
  let call: CallUpstream;
  let url: string;
  let agent: Agent;

  beforeEach(async () => {
    const upstream = await rawUpstream((socket) => sendInPieces(createRandom(seed), socket, answer));
    const upstreams = createUpstreams(createContext());
    upstreams.apply([snapshotOf(upstream.port)]);
    call = createUpstreamCaller(upstreams);
    url = `http://127.0.0.1:${upstream.port}/`;
    agent = new Agent({ pipelining: 0 });
    whenDone(() => agent.destroy());
    whenDone(() => upstreams.close());
  });

  async function ours(): Promise<Taken> {
    const asked = { method: 'POST', path: '/', timeoutMs: 20_000, maxBodyBytes: 10_000_000 };
    try {
      const { status, headers, body } = await call({ name: 'echo', namespace: 'gw-system' }, asked);
      return { status, headers: { ...headers }, body: body.toString('latin1') };
    } catch {
      return undefined;
    }
  }

  async function theirs(): Promise<Taken> {
    try {
      const { statusCode, headers, body } = await request(url, {
        method: 'POST',
        dispatcher: agent,
        responseHeaders: 'raw',
      });
      const flat = headers as unknown as (Buffer | string)[];
      const byName: Record<string, string> = {};
      for (let i = 0; i < flat.length; i += 2) {
        const name = text(flat[i]!).toLowerCase();
        // The other one leaves blanks behind a value.
        const value = text(flat[i + 1]!).replace(/^[ \t]+|[ \t]+$/g, '');
        if (!HOP_BY_HOP.has(name)) byName[name] = byName[name] === undefined ? value : `${byName[name]}, ${value}`;
      }
      return { status: statusCode, headers: byName, body: Buffer.from(await body.arrayBuffer()).toString('latin1') };
    } catch {
      return undefined;
    }
  }

  const text = (value: Buffer | string): string => (typeof value === 'string' ? value : value.toString('latin1'));

  it('parses 400 valid responses like undici', async () => {
    for (seed = 1; seed <= 400; seed++) {
      answer = goodAnswer(createRandom(seed));
      const taken = await ours();
      expect(taken, `seed ${seed}: ${JSON.stringify(answer.slice(0, 300))}`).to.not.equal(undefined);
      expect(taken, `seed ${seed}`).to.deep.equal(await theirs());
    }
  }).timeout(120_000);

  it('parses each of 600 damaged responses like undici, or rejects it', async () => {
    let refused = 0;
    let both = 0;
    for (seed = 1; seed <= 600; seed++) {
      const random = createRandom(seed + 1_000_000);
      answer = mutated(random, goodAnswer(random));
      const taken = await ours();
      if (taken === undefined) refused++;
      else {
        both++;
        expect(taken, `seed ${seed}: ${JSON.stringify(answer.slice(0, 300))}`).to.deep.equal(await theirs());
      }
    }
    expect(Math.min(refused, both)).to.be.above(50);
  }).timeout(120_000);
});
