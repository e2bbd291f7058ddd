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

const ANSWER_MS = 30_000;

/** Opens a WebSocket, or gives the answer that refused it. */
export async function openSocket(url: string, headers: Readonly<Record<string, string>>): Promise<Socket | Answered> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers: { ...headers, host: APP } });
  const { promise, resolve, reject } = Promise.withResolvers<Socket | Answered>();
  const waiting: ((text: string | undefined) => void)[] = [];
  const end = (): void => waiting.splice(0).forEach((each) => each(undefined));
  socket.on('message', (data: Buffer) => waiting.shift()?.(data.toString()));
  socket.on('error', (error) => (reject(error), end()));
  socket.on('close', end);
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
    const answer = new Promise<string | undefined>((done) => waiting.push(done));
    const late = setTimeout(end, ANSWER_MS);
    socket.send(text);
    const got = await answer;
    clearTimeout(late);
    if (got === undefined) throw new Error('the WebSocket gave no answer');
    return got;
  }

  return promise;
}
