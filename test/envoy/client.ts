import { once } from 'node:events';
import { readMessage, type Message } from './message.ts';
import type { Case } from './scenario.ts';
import { openClient, type ClientTarget } from './tls/client-socket.ts';
import { Talker, type Heard, type Talk } from './tunnel/talk.ts';

/** Responses on one connection, in order. */
export interface Answered {
  readonly responses: readonly Message[];
  /** True if the last response announced that the connection closes, or was cut off. */
  readonly closed: boolean;
  /** Codes with which streams were reset after a complete response. */
  readonly stops?: readonly number[];
  /** What the client heard in the tunnel. */
  readonly heard?: Heard | undefined;
}

/** Nothing takes this long: only what never ends does. */
export const TIMEOUT_MS = 20_000;

/**
 * Sends parts of bytes over one connection. Resolves when each part has a response and the last one is final, when the tunnel
 * that it opened is over, or when the connection is closed.
 */
export async function send(
  target: ClientTarget,
  parts: readonly string[],
  { end, talk }: Pick<Case, 'end' | 'talk'> = {},
): Promise<Answered> {
  const { socket, opened, reset } = openClient(target, 'http/1.1');
  const late = setTimeout(() => socket.destroy(new Error('no response in time')), TIMEOUT_MS);
  const methods = parts.map((part) => part.split(' ')[0]!);
  const responses: Message[] = [];
  let talker: Talker | undefined;
  let failed: Error | undefined;
  let text = '';
  let hasEnded = false;
  let sent = 0;

  function sendNext(): void {
    socket.write(parts[sent++]!, 'latin1');
    if (end && sent === parts.length) socket.end();
  }

  /** Takes messages from the text; returns true when nothing more is expected. */
  function take(): boolean {
    for (;;) {
      const method = methods[Math.min(sent, methods.length) - 1]!;
      const next = readMessage(text, { method, ended: hasEnded });
      if (!next) return false;
      text = next.rest;
      responses.push(next.message);
      if (talk && opensTunnel(method, next.message)) {
        startTalk(talk);
        return false;
      }
      if (sent < parts.length) sendNext();
      else if (isFinal(next.message) && !announcesClose(next.message)) return true;
    }
  }

  function startTalk(how: Talk): void {
    const side = { send: (data: string) => void socket.write(data, 'latin1'), end: () => void socket.end(), reset };
    talker = new Talker(how, side, finish);
    receive();
  }

  /** Everything belongs to the tunnel once it is open. */
  function receive(): void {
    if (!talker) return void (take() && finish());
    const heard = text;
    text = '';
    if (heard !== '') talker.receive(heard);
  }

  function over(how: string): void {
    hasEnded = true;
    receive();
    if (talker) talker.ended(failed || how === 'close' ? 'reset' : how);
    if (!talker || how === 'close') finish();
  }

  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
    receive();
  });
  socket.on('end', () => over('end'));
  socket.on('close', () => over('close'));
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') failed = error;
  });
  await Promise.race([once(socket, opened), done]);
  sendNext();
  await done;
  clearTimeout(late);
  socket.destroy();
  if (failed) throw new Error(`${failed.message} after ${JSON.stringify(responses)}, then ${JSON.stringify(text)}`);
  return { responses, closed: hasEnded, heard: talker && { text: talker.text, end: talker.end } };
}

function isFinal({ startLine }: Message): boolean {
  const status = Number(startLine.split(' ')[1]);
  return status >= 200 || status < 100 || status === 101;
}

/** Returns true for a response that opens the tunnel which its request asked for. */
function opensTunnel(method: string, { startLine }: Message): boolean {
  const status = Number(startLine.split(' ')[1]);
  return status === 101 || (method === 'CONNECT' && status >= 200 && status < 300);
}

function announcesClose({ headers }: Message): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === 'connection' && value.toLowerCase() === 'close');
}
