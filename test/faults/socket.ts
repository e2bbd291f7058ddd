import { WebSocket } from 'ws';
import type { Answered } from './person.ts';
import { APP } from './resources.ts';

/** A WebSocket through a gateway. */
export interface Socket {
  /** Sends a text and gives the next message; rejects when the connection ends or half a minute passes without one. */
  say(text: string): Promise<string>;
  readonly isOpen: boolean;
  close(): void;
}

/** Status of a server that stops (RFC 6455, section 7.4.1). */
const GOING_AWAY = 1001;
const ANSWER_MS = 30_000;

/** Opens a WebSocket, or gives the answer that refused it. */
export async function openSocket(url: string, headers: Readonly<Record<string, string>>): Promise<Socket | Answered> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers: { ...headers, host: APP } });
  const { promise, resolve, reject } = Promise.withResolvers<Socket | Answered>();
  const waiting: ((text: string | undefined) => void)[] = [];
  let closedWith: number | undefined;
  const end = (): void => waiting.splice(0).forEach((each) => each(undefined));
  socket.on('message', (data: Buffer) => waiting.shift()?.(data.toString()));
  socket.on('error', (error) => (reject(error), end()));
  socket.on('close', (code) => ((closedWith = code), end()));
  socket.on('open', () =>
    resolve({
      say,
      close: () => socket.terminate(),
      get isOpen() {
        return socket.readyState === WebSocket.OPEN;
      },
    }),
  );
  socket.on('unexpected-response', (_request, response) => {
    let text = '';
    response.on('data', (chunk: Buffer) => (text += chunk.toString()));
    response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
  });

  async function say(text: string): Promise<string> {
    if (closedWith !== undefined) throw closed();
    const answer = new Promise<string | undefined>((done) => waiting.push(done));
    const late = setTimeout(end, ANSWER_MS);
    socket.send(text);
    const got = await answer;
    clearTimeout(late);
    if (got === undefined) throw closed();
    return got;
  }

  function closed(): Error {
    if (closedWith === GOING_AWAY) return Object.assign(new Error('the gateway is going away'), { code: 'GOING_AWAY' });
    return new Error(
      `the WebSocket gave no answer${closedWith === undefined ? '' : `, but closed with ${closedWith}`}`,
    );
  }

  return promise;
}
