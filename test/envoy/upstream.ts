import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { readMessage, type Message } from './message.ts';
import { serveHttp2 } from './http2/http2-upstream.ts';
import { reply, type Reply } from './scenario.ts';
import type { Version } from './versions.ts';

/** An upstream that keeps what it receives and replies as scripted. */
export interface ScriptedUpstream {
  readonly port: number;
  /** Requests since the last `play`. */
  readonly received: readonly Message[];
  /** Codes of the resets of streams since the last `play`. */
  readonly resets: readonly number[];
  /** Forgets what was received, and replies with these from now on. */
  play(replies?: readonly Reply[]): void;
  close(): Promise<void>;
}

const DEFAULT_REPLIES: readonly Reply[] = [reply('200 OK', [], 'ok')];

/** Starts an upstream on a free port of 127.0.0.1. */
export async function startUpstream(version: Version = 1): Promise<ScriptedUpstream> {
  const sockets = new Set<Socket>();
  let replies = DEFAULT_REPLIES;
  let received: Message[] = [];
  let resets: number[] = [];

  function nextReply(): Reply {
    return replies[Math.min(received.length, replies.length - 1)]!;
  }

  function receive(message: Message): Reply {
    const next = nextReply();
    received.push(message);
    return next;
  }

  function serve(socket: Socket): void {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    if (version === 2) return serveHttp2(socket, receive, nextReply, (code) => void resets.push(code));
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('\r\nexpect: 100-continue\r\n') && text.endsWith('\r\n\r\n'))
        socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      for (let next = readMessage(text, { ended: false }); next; next = readMessage(text, { ended: false })) {
        text = next.rest;
        play(socket, receive(next.message));
      }
    });
  }

  const server: Server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get received() {
      return received;
    },
    get resets() {
      return resets;
    },
    play(next = DEFAULT_REPLIES) {
      replies = next;
      received = [];
      resets = [];
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function play(socket: Socket, next: Reply): void {
  if (typeof next === 'string') return void socket.write(next, 'latin1');
  if (typeof next === 'object') throw new TypeError('the reply needs HTTP/2');
  next({
    send: (text) => void socket.write(text, 'latin1'),
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
  });
}
