import { once } from 'node:events';
import { connect } from 'node:net';
import { readMessage, type Message } from './message.ts';

/** Responses on one connection, in order. */
export interface Answered {
  readonly responses: readonly Message[];
  /** True if the last response announced that the connection closes, or was cut off. */
  readonly closed: boolean;
  /** Codes with which streams were reset after a complete response. */
  readonly stops?: readonly number[];
}

export const TIMEOUT_MS = 3_000;
/** Not 127.0.0.1, instead of which Envoy reports an address of the machine in `x-forwarded-for`. */
export const CLIENT_ADDRESS = '127.0.0.2';

/**
 * Sends parts of bytes over one connection. Resolves when each part has a response and the last one is final, or when the
 * connection is closed.
 */
export async function send(port: number, parts: readonly string[], end = false): Promise<Answered> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: CLIENT_ADDRESS, noDelay: true, allowHalfOpen: true });
  const late = setTimeout(() => socket.destroy(new Error('no response in time')), TIMEOUT_MS);
  const methods = parts.map((part) => part.split(' ')[0]!);
  const responses: Message[] = [];
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
      if (sent < parts.length) sendNext();
      else if (isFinal(next.message) && !announcesClose(next.message)) return true;
    }
  }

  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => ((text += chunk), take() && finish()));
  socket.on('end', () => ((hasEnded = true), take(), finish()));
  socket.on('close', () => ((hasEnded = true), take(), finish()));
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') failed = error;
  });
  await Promise.race([once(socket, 'connect'), done]);
  sendNext();
  await done;
  clearTimeout(late);
  socket.destroy();
  if (failed) throw new Error(`${failed.message} after ${JSON.stringify(responses)}, then ${JSON.stringify(text)}`);
  return { responses, closed: hasEnded };
}

function isFinal({ startLine }: Message): boolean {
  const status = Number(startLine.split(' ')[1]);
  return status >= 200 || status < 100 || status === 101;
}

function announcesClose({ headers }: Message): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === 'connection' && value.toLowerCase() === 'close');
}
