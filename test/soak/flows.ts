import { Agent, request, type IncomingMessage } from 'node:http';
import { connect, type ClientHttp2Session } from 'node:http2';
import { WebSocket } from 'ws';
import type { Flow } from '../faults/traffic.ts';
import { EVENTS } from '../faults/upstream.ts';

let serial = 0;

interface Received {
  readonly status: number;
  readonly text: string;
}

/** Returns `served` for a response whose body says what was sent. */
function kindOf({ status, text }: Received, sent: { readonly asked: string; readonly body: string }): string {
  if (status !== 200) return `status ${status}: ${text.slice(0, 200)}`;
  const { asked, body } = JSON.parse(text) as { asked?: string; body?: string };
  return asked === sent.asked && body === sent.body ? 'served' : `another response: ${text.slice(0, 200)}`;
}

function kindOfEvents({ status, text }: Received): string {
  if (status !== 200) return `status ${status}: ${text.slice(0, 200)}`;
  const events = text.split('\n\n').filter(Boolean);
  return events.length === EVENTS ? 'served' : `${events.length} events`;
}

function http1(port: number): { send(method: string, path: string, body: string): Promise<Received>; stop(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  return {
    send: (method, path, body) =>
      new Promise((resolve, reject) => {
        const req = request({ port, host: '127.0.0.1', method, path, agent }, (res: IncomingMessage) => {
          let text = '';
          res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          res.on('end', () => resolve({ status: res.statusCode ?? 0, text })).on('error', reject);
        });
        req.on('error', reject).end(body);
      }),
    stop: () => agent.destroy(),
  };
}

/** Sends over one session, and over a new one after that has ended. */
function http2(port: number): { send(method: string, path: string, body: string): Promise<Received>; stop(): void } {
  let session: ClientHttp2Session | undefined;
  function current(): ClientHttp2Session {
    if (session && !session.closed && !session.destroyed) return session;
    session = connect(`http://127.0.0.1:${port}`);
    const opened = session.on('error', () => {});
    opened.on('goaway', () => opened.close());
    return opened;
  }
  return {
    send: (method, path, body) =>
      new Promise((resolve, reject) => {
        const stream = current().request({ ':method': method, ':path': path }, { endStream: body === '' });
        let status = 0;
        let text = '';
        stream.on('response', (headers) => (status = Number(headers[':status'])));
        stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        stream.on('end', () => resolve({ status, text })).on('error', reject);
        if (body !== '') stream.end(body);
      }),
    stop: () => session?.close(),
  };
}

/** Messages over a WebSocket that stays open, and is opened anew after a hundred messages. */
function messages(port: number): Pick<Flow, 'send' | 'stop'> {
  let socket: WebSocket | undefined;
  let sent = 0;
  const waiting = new Map<string, () => void>();
  async function open(): Promise<WebSocket> {
    const opened = new WebSocket(`ws://127.0.0.1:${port}/socket`);
    await new Promise((resolve, reject) => opened.once('open', resolve).once('error', reject));
    opened.on('error', () => {});
    opened.on('message', (data) => waiting.get((JSON.parse(String(data)) as { echo: string }).echo)?.());
    return opened;
  }
  let turn: Promise<unknown> = Promise.resolve();
  const say = async (): Promise<string> => {
    if (sent++ % 100 === 0) {
      socket?.close();
      socket = await open();
    }
    const text = `message ${serial++}`;
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.set(text, resolve);
    socket!.send(text);
    await promise;
    waiting.delete(text);
    return 'served';
  };
  return {
    send() {
      const next = turn.then(say);
      turn = next.catch(() => {});
      return next;
    },
    async stop() {
      await turn;
      socket?.terminate();
    },
  };
}

/** Requests over HTTP/1.1 and HTTP/2 to upstreams of both versions, event streams and WebSockets: about 280 a second. */
export function soakFlows(port: number): readonly Flow[] {
  const flows: Flow[] = [];
  for (const [version, client] of [
    ['HTTP/1.1', http1(port)],
    ['HTTP/2', http2(port)],
  ] as const) {
    for (const prefix of ['', '/http2']) {
      const add = (name: string, perSecond: number, send: () => Promise<string>): void => {
        const stop = (): Promise<void> => Promise.resolve(client.stop());
        flows.push({ name: `${version} ${name} ${prefix}`.trimEnd(), perSecond, usual: ['served'], send, stop });
      };
      const ask = async (method: string, body: string): Promise<string> => {
        const path = `/page?${serial++}`;
        return kindOf(await client.send(method, prefix + path, body), { asked: `${method} ${path}`, body });
      };
      add('GET', 40, () => ask('GET', ''));
      add('POST', 20, () => ask('POST', `body ${serial++} ${'b'.repeat((serial * 97) % 20_000)}`));
      add('events', 4, async () => kindOfEvents(await client.send('GET', `${prefix}/events`, '')));
    }
  }
  return [...flows, { name: 'WebSocket', perSecond: 20, usual: ['served'], ...messages(port) }];
}
